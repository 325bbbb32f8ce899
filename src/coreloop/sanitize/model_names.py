"""Names of providers and models that an export without free text keeps; a team's own names may hold words."""

import re
from typing import Final

_PROVIDERS_TEXT: Final = """
ai21 alibaba anthropic aws azure azure-openai bedrock cerebras claude codex cohere dashscope deepinfra
deepseek fireworks gemini google google-genai groq huggingface litellm lmstudio mistral mistralai moonshot
nvidia oauth-codex ollama openai openai-compatible openrouter perplexity qwen replicate together vertex
vertexai vertex_ai vllm watsonx xai zhipu
"""
_MAX_CHARS: Final = 80
PROVIDERS: Final = frozenset(_PROVIDERS_TEXT.split())
_FAMILIES: Final = (
    r"chatgpt|gpt|o[1-9]|codex|claude|gemini|gemma|llama|mistral|ministral|mixtral|codestral|devstral|magistral|"
    r"pixtral|qwen|qwq|deepseek|command|grok|phi|nova|titan|jamba|kimi|glm|yi|sonar|nemotron|exaone|solar|"
    r"hyperclovax|hcx|granite|dbrx|falcon|olmo|minimax"
)
_PARTS: Final = (
    r"mini|nano|micro|tiny|small|medium|large|xl|base|ultra|pro|plus|max|lite|flash|turbo|fast|high|low|premier|"
    r"opus|sonnet|haiku|maverick|scout|nemo|coder|code|codex|chat|instruct|it|oss|vl|vision|audio|realtime|search|"
    r"research|deep|reasoner|reasoning|thinking|distill|omni|air|r|preview|exp|experimental|latest|beta|ca|"
    r"v?[0-9]{1,4}(?:\.[0-9]{1,2}){0,2}[a-z]?|v?[0-9](?:\.[0-9])?o|[0-9]{1,4}(?:\.[0-9])?x?[0-9]{0,2}[bkm]|"
    r"a[0-9]{1,3}b|r[0-9]|e[0-9]b|20[0-9]{2}[01][0-9][0-3][0-9]"
)
_HOSTS: Final = "|".join([*sorted(PROVIDERS), "amazon", "eu", "meta", "meta-llama", "models", "us"])
# gpt-4o-mini-2024-07-18, anthropic.claude-3-5-sonnet-20241022-v2:0, meta-llama/Llama-3.3-70B-Instruct
_MODEL: Final = re.compile(
    rf"(?i)(?:(?:{_HOSTS})[/.])*(?:{_FAMILIES})(?:[0-9]{{1,2}}(?:\.[0-9]{{1,2}})?)?(?:[-_.:@](?:{_PARTS}))*"
)


def is_known_provider(name: str) -> bool:
    """Whether a text is the name of a known provider."""
    return name.lower() in PROVIDERS


def is_known_model(name: str) -> bool:
    """Whether a text is a known model family with sizes, versions and variants, not a fine-tuned model."""
    return len(name) <= _MAX_CHARS and _MODEL.fullmatch(name) is not None
