"""Sentences as users and programs write them, with ``{}`` where a value goes."""

from random import Random

KOREAN = (
    "{} 확인 부탁드립니다",
    "안녕하세요, {} 이 건으로 문의드려요",
    "{}\n위 내용으로 처리해 주세요",
    "어제 접수한 건인데요. {} 맞나요?",
    "급해요!! {} 빨리 좀 봐주세요 ㅠㅠ",
    "메모: {}",
    "다음 내용을 표로 정리해줘: {}",
    "({}) 이거 어디에 등록되어 있는지 찾아줘",
    '고객 상담 내용 요약해줘. "{}"',
    "- {}\n- 배송은 다음 주 월요일까지",
    "[문의] {} / 답변 대기 중",
    "{} <- 이거 왜 조회가 안 되나요",
    "참고로 {} 이고 나머지는 이전과 같습니다",
    "혹시 {} 관련해서 진행 상황 알 수 있을까요?",
)
ENGLISH = (
    "please check {} for me",
    "Hi, I wrote last week about {} and never heard back",
    "{}\nCan you sort this out today?",
    "Summarise this note: {}",
    "what do we have on file for {}?",
    "is {} correct? it keeps failing",
    "FYI: {} (see the earlier thread)",
    "Look up {} and tell me what is missing",
    'The form says "{}" but the page is blank',
    "* {}\n* delivery before Monday",
    "ticket text: {}; status: open",
    "why do I get an error with {}",
    "Translate to Korean: {}",
    "Update the record, it should be {}",
)
ATTACHED = (
    "{}로 보내주세요",
    "{}으로 등록되어 있어요",
    "{}인데 조회해 줘",
    "제 정보는 {}입니다",
    "{}에 대해 알려줘",
    "{}은 맞고 나머지는 틀려요",
    "{}를 지워 주세요",
    "기존 {}에서 변경해 주세요",
    "use {}, not the old one",
    "it was {}.",
    "<{}>",
    "'{}'",
    "value={}",
    "→{}",
)
"""With a particle or punctuation directly at the value; for values that need no word beside them."""
ERRORS = (
    "ValueError: invalid input: {}",
    "HTTP 400: {} is not accepted",
    "조회 실패: {}",
    "KeyError: '{}'",
    'duplicate key value violates unique constraint "contact_key" DETAIL: Key (contact)=({}) already exists.',
    "ToolError: cannot parse {} at line 3",
    "처리할 수 없는 값입니다 ({})",
)
PASTED = (
    "아래 메일 요약해줘\n\n안녕하세요,\n지난주에 말씀드린 건입니다.\n{}\n검토 후 회신 부탁드립니다.\n"
    "감사합니다.",
    "Here is the log:\nINFO start worker\nDEBUG payload {}\nERROR task failed, will retry\nWhat went wrong?",
    "| 항목 | 값 |\n|---|---|\n| 내용 | {} |\n| 상태 | 완료 |\n이 표를 설명해줘",
    'Fix this code:\n```python\ndef send():\n    data = """{}"""\n    return post(data)\n```',
    '항목,값,비고\n내용,"{}",완료\n기타,-,-\n이 CSV를 JSON으로 바꿔줘',
    "id,value,count\n17,{},3\n18,,0\nTurn this into a table",
    "Forwarded message\n> {}\n>\n> Thanks\nDraft a polite reply.",
)
ORDINARY = (
    "최근 5년 수익성 추이를 동종 업계 평균과 비교해서 설명해줘",
    "배당 정책이 어떻게 바뀌었는지 알려줘",
    "영업현금흐름이 순이익보다 적은 이유가 무엇인지 찾아줘",
    "반품하려면 어떻게 해야 하나요?",
    "주문한 상품이 아직 도착하지 않았어요",
    "compare the operating margin with its peers",
    "which orders are still open?",
    "Why did the nightly job fail?",
    "Explain the difference between the two plans",
    "재고가 부족한 품목만 골라서 보여줘",
    "회의록을 세 문장으로 요약해줘",
    "How do I export the report as a spreadsheet?",
    "환율이 오르면 실적에 어떤 영향이 있나요?",
    "Write a test for the parser",
)


def sentence(mention: str, chance: Random, *, is_bare: bool) -> str:
    frames = ATTACHED if is_bare and chance.random() < 0.4 else chance.choice((KOREAN, ENGLISH))
    return chance.choice(frames).replace("{}", mention)


def error(mention: str, chance: Random) -> str:
    return chance.choice(ERRORS).replace("{}", mention)


def pasted(mention: str, chance: Random) -> str:
    return chance.choice(PASTED).replace("{}", mention)


def ordinary(chance: Random) -> str:
    return chance.choice(ORDINARY)
