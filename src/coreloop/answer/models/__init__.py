"""What a run can ask for text: an offline model, OpenAI-compatible endpoints, and a ladder of both."""
