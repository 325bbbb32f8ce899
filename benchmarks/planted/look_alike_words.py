"""Phrases that look private and are not, for `planted.look_alikes`."""

from typing import NamedTuple


class WordLookAlike(NamedTuple):
    """The kind that the phrases look like, and the phrases, separated by `` | ``."""

    like: str
    phrases: str


LOOK_ALIKE_WORDS = (
    WordLookAlike(
        "e-mail address",
        "react@18.2.0 | @types/node@20.1.4 | @pytest.fixture | user@{host} | 3 @ $5.00 | numpy@1.26 | "
        "@media print | actions/checkout@v4 | @dataclass(frozen=True) | 미팅 @ 강남역",
    ),
    WordLookAlike(
        "link",
        "README.md | node.js | config.yaml | os.path.join | ASP.NET Core | main.py | e.g. this | "
        "package.json | pd.DataFrame | etc.so | https 프로토콜",
    ),
    WordLookAlike(
        "IPv6 address",
        "12:30:45 | std::vector::size | Foo::Bar::baz | 09:00:00~18:00:00 | 1:2:3 비율 | a::b | 비율 4:3:2:1",
    ),
    WordLookAlike("MAC address", "12-34-56 | 00:11:22 경과 | aa-bb-cc | 10:20:30:40 비율"),
    WordLookAlike(
        "path with a user's name",
        "/usr/lib/python3.12/site.py | C:\\Windows\\System32\\drivers | /var/log/app.log | "
        "/users/{id}/orders | src/home/index.ts | /home | C:\\Program Files\\Git | /etc/hosts | GET "
        "/users/:id | ./Users.java",
    ),
    WordLookAlike(
        "Korean mobile number",
        "제10101호 | 010.1 버전 | 1,010,123,456원 | 항목 010-12 | 010101 이진수 | 0101-1010 패턴 | 코드 0109",
    ),
    WordLookAlike(
        "Korean landline",
        "02-03 구간 | 031-2 챕터 | 02:30-04:00 | 064.5% | 2024-02-1234 | 02/03/04 | 042 사이즈",
    ),
    WordLookAlike(
        "US street address",
        "5 best ways | a 3 way call | 2 drive letters | 3 lane highway | 10 court cases | the 80/20 "
        "way | 1 street food stall",
    ),
    WordLookAlike("UK telephone", "0161 to 0496 | 020 points | 07/700 | ISO 20022 | 020-24 회차"),
    WordLookAlike(
        "UK street address with postcode",
        "M1 Pro 16GB | B15 battery | Room 10 Church hall | CB2 cable | G12 vitamin",
    ),
    WordLookAlike("European telephone", "+49 % | +33.5 bp | +34 points | +31 days | +39.2 EUR | +49,000원"),
    WordLookAlike("AWS access key id", "AKIA | ASIA 시장 | AKIAXXXXXXXXXXXXXXXX"),
    WordLookAlike("Twilio key", "SKU-2041 | SK3 | SKU 2041"),
    WordLookAlike("JSON web token", "eyJ | a.b.c | org.apache.commons | com.example.app.MainActivity"),
    WordLookAlike(
        "key beside its word",
        "api_key: ${API_KEY} | crtfc_key=YOUR_KEY | API key is missing | 인증키는 필수입니다 | "
        "api_key: null | Authorization: Bearer <token> | api_key=os.environ['KEY'] | crtfc_key 오류 | "
        "access_token: expired | api_key=***",
    ),
    WordLookAlike(
        "password beside its word",
        "password=*** | password=<redacted> | password: required | 비밀번호를 잊어버렸어요 | "
        "password=${DB_PASSWORD} | 비밀번호 오류 | password: ******** | pw: N/A | 비밀번호는 8자 이상 "
        "| my password is not working | password: str | 비밀번호 변경 | password=[REDACTED] | 비번 "
        "찾기 | password=None | password: {{ db_password }}",
    ),
    WordLookAlike(
        "private key", "BEGIN PRIVATE KEY 형식 | -----BEGIN CERTIFICATE----- | private key not found"
    ),
    WordLookAlike(
        "Korean name before a title",
        "금융주 대표 | 고객님 | 회원님 | 담당자님 | 신임 대표 | 우리 팀장님 | 담당 과장 | 신규 회원님 "
        "| 사내 변호사 | 영업 팀장 | 반도체주 대표 종목 | 한국 대표팀 | 임시 이사회 | 유명 박사 | 정부 "
        "담당자 | 이번 대표 | 지방 교수 | 모든 고객님 | 업종 대표주 | 공동 대표이사 | 전문 상담원 | "
        "선임 대리 | 총괄 이사 | 주치의 선생님 | 기존 고객님 | 성장주 대표 | 인사 담당자님",
    ),
    WordLookAlike(
        "Korean name beside its word",
        "예금주 확인 부탁 | 성함을 입력 | 이름 없음 | 이름: 필수 | 예금주명 불일치 | 성함 미기재 | "
        "수취인 불명 | 보호자 동의 필요 | 이름 순으로 정렬 | 이름: 수익성 분석 | 받는 사람 변경 | "
        "담당자: 미정 | 예금주: 본인",
    ),
    WordLookAlike(
        "English name beside its word",
        "name: required | Dear customer, | Dear team, | my name is missing from the list | customer: "
        "new | name: revenue growth | Dear Hiring Manager | customer: premium plan | name: string | "
        "patient: unknown | my name is not shown | Name: N/A | name: Sales Report | account holder: "
        "yes",
    ),
    WordLookAlike(
        "surname after Mr., Ms., Dr.", "Dr Pepper | MS Office | Mr. and Mrs. | Dr. 페이지 | ms. 단위"
    ),
    WordLookAlike(
        "listed company", "들찬 하루 | 누리꾼 해운대 | 다솜 이불 | 온새미로 | 바른 유통기한 | 해오름 시각"
    ),
    WordLookAlike(
        "listed company whose name is a word",
        "신세계 질서 | 신세계 교향곡 | 지원 대상 | 분석 대상은 | 대상 기간 | 동서 방향 | 동서 고속도로 "
        "| 조사 대상자 | 동서 문화 | 우리손으로 | 신세계를 열다",
    ),
)
