"""What patterns and failures share: lines to columns, one file to a rollup, many rollups to a window."""
