"""The settings in which a query is answered. Imports nothing heavy."""

# The LLM alone; with the first k retrieved documents; with one of these documents alone.
SETTINGS = ("llm", "rag", "doc")
