"""Mining for patterns and failures: lines -> columns, a file -> a rollup, rollups -> a window."""
