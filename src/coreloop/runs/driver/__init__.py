"""Any command as the worker of a run: one fresh process per iteration, judged by what it recorded."""
