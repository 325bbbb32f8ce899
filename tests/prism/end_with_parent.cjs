// Prism outlives a test run that is killed, unless something tells it: its standard input ends with its parent.
process.stdin.resume();
process.stdin.on("end", () => process.exit());
