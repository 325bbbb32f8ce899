"""Personal names next to a title; without a title, rules cannot distinguish a name from a word."""

import re
from typing import Final

from coreloop.sanitize.detectors.rule import Sign, rules, words_of

_SURNAMES: Final = (
    "김이박최정강조윤장임한오서신권황안송전홍유고문양손배백허남심노하곽성차주우구민진나지엄채원천방공현함변염여추도소석선설마"
    "길연위표명기반류라목형빈음피태복왕금옥육인맹제모탁국어은편용예경봉사부"
)
_DOUBLE: Final = r"(?:남궁|황보|제갈|선우|독고|사공|서문|동방|어금|망절)"
_GIVEN: Final = (
    "가강건겸경계고관광교구권규균근기길나난남내노누늘다단달담대덕도동두드라란람랑래려련렬령로록루류륜률름리린림마만명모목무문미민바박"
    "방배백범벽별병보복봉부비빈빛사산삼상새샘서석선설섬섭성세소솔송수숙순슬승시식신실심아안애양언여연열엽영예오옥온완용우욱운웅원"
    "월위유윤율융은을음의이익인일임자재전정제조종주준중지진찬창채천철청초춘충치태택평표풍필하학한해향허헌혁현형혜호홍화환황회효후훈"
    "휘흔흠희"
)
_TITLES: Final = (
    r"(?:대표이사|대표님|대표|이사장|이사님|이사|회장님|회장|부회장|사장님|사장|부사장|상무|전무|부장|차장|과장|대리|팀장|실장|본부장|센터장|지점장|"
    r"사원|주임|선임|책임|수석|위원장|위원|의원|장관|차관|교수님|교수|박사님|박사|변호사|회계사|세무사|변리사|노무사|법무사|기자|앵커|선생님|선생|"
    r"고객님|고객|회원님|회원|의사|간호사|약사|원장|매니저|연구원|애널리스트|감사|조합장|총장|학장|교장|판사|검사|형사|경위|경감|작가|감독|배우|선수|담당자님|"
    r"CEO|CFO|CTO|COO|PM|PD)"
)
_PARTICLES: Final = (
    r"(?=$|[^가-힣A-Za-z0-9]|은|는|이(?![가-힣])|가(?![가-힣]{2})|을|를|의|에게|에서|에(?![가-힣])|께|와|"
    r"과|도|만|로|으로|한테|입니다|이며|이고|인데|이라|라고|이다|이야|씨|님|랑|하고|까지|부터)"
)
_ROMAN: Final = (
    r"(?:Kim|Lee|Yi|Rhee|Park|Pak|Choi|Choe|Jung|Jeong|Chung|Kang|Cho|Jo|Yoon|Yun|Jang|Chang|Lim|Im|Han|Oh|Seo|Suh|Shin|Kwon|"
    r"Hwang|Ahn|An|Song|Jeon|Hong|Yoo|Yu|Ryu|Ko|Go|Moon|Yang|Son|Bae|Baek|Heo|Nam|Shim|Noh|Ha|Kwak|Sung|Cha|Joo|Woo|Koo|Min|Jin)"
)
_CAPITAL: Final = (
    r"[OD]'[A-Z][a-zà-ÿ]+|[A-Z][a-zà-ÿ]+[A-Z][a-zà-ÿ]+|[A-Z][a-zà-ÿ]+(?:[-'][A-Z]?[a-zà-ÿ]+)?|[A-Z]\."
)
# Business and everyday words that look like a surname and a given name.
_WORDS: Final = words_of("""
지원서 정보지 조교수 부교수 도지사 이윤 조건 안건 사건 모범 강철 지하철 전철 주필 신문 국가 석사 문건 요건
여건 고철 백범 전범 공범 주범 방범 시범 규범 고객 공동 신규 주주 정기 전기 한국 국내 정부 기관 이사 감사
회사 부서 담당 신임 현직 전직 차기 임시 상근 사외 사내 등기 전문 고위 주요 우리 우선 여성 남성 고문 원로
지역 지방 민간 공공 금융 기술 경영 재무 인사 영업 홍보 총무 기획 연구 개발 생산 품질 구매 물류 마케 해외
국제 유명 인기 무료 소액 대주 개인 법인 기업 신입 경력 정규 계약 인턴 수석 책임 선임 주임 사원 대리 과장
차장 부장 전무 상무 사장 회장 이번 지난 어느 하나 모든 여러 다른 같은 전체 일부 소수 다수 각자 서로 본인
당사 귀사 타사 자사 계열 모회 자회 지주 은행 증권 보험 카드 투자 신탁 자산 운용 반도 조선 건설 화학 전자
통신 유통 식품 제약 의료 바이 게임 엔터 항공 해운 철강 자동 배터 전력 가스 에너 소재 부품 장비 하이 코스
시장 업종 종목 이재무 신사업 조선업 고려대 서울대 연세대 한양대 성균관 이화여 전라도 경상도 강원도 서울시
부산시 강남구 서초구 정무위 기재위 국토위 여가위 주주총 이사회 선거인 유망주 우선주 성장주 배당주 공모주
한국인 안내원 전세계 신세계 고가의 유일한 진정한 주요한 우수한 유력한 유명한 강력한 성공한 안정한 하나의
우리의 이번의 조합원 전문의 주치의 한의사 소비자 이용자 사용자 경영자 설립자 신청자 구매자 유통사 제조사
은행장 지점장 공장장 현장소 연구소 사무소 이마트 하이마 현대차 기아차 지주사 고객사 부동산 전자공 한미약
유한양 오리온 남양유 서울우 주가의 배당의 이익의 임원의 정보의 전략의 신용의 현금의 안녕하 부탁하 이전의
최근의 주식의 연결의 전년의 손님 부모 선배 후배 동료 임금 주인 하느 공주 도련 마님 장모 장인 사모 형님
누님 이모 고모 따님 아드 며느 신부 목사 전도 스님 수녀 교수 박사 의사 간호 약사 기사 원장 실장 팀장 소장
반장 국장 서장 청장 처장 총장 학장 교장 교감 선생 강사 조교 학생 고인 망자 신랑 이용 성함 존함 여보 배우
가수 감독 작가 화백 명인 장관 차관 대통 총리 의원 위원 대사 공사 영사 상대 경쟁 이상 이하 전망 주가 배당
수익 이익 매출 안정 성장 유동 부채 자본 원가 비용 현금 차입 신용 채권 주식 공시 실적 지표 기준 비교 분석
추이 변동 최대 최소 최고 최저 평균 방금 지금 오늘 내일 어제 최근 현재 이후 이전 국민 시민 주민 도민 구민
군민 농민 어민 서민 난민 위민 정치 경제 사회 문화 안내 정보 문의 전용 주문 신청 유의 주의 변경 지원 우대
연락 조회 확인 명의 인증 방산 원전 가치 우량 공모 소비 유틸 여행 남북 양자 이차 로봇
""")


def _is_name(match: re.Match[str]) -> bool:
    name = re.sub(r"\s", "", match["value"])
    if name in _WORDS or (name[:2] in _SHORT_WORDS and len(name) == 2):
        return False
    is_word = len(name) == 3 and name[:2] in _SHORT_WORDS and name[2] in _WORD_ENDS  # 금융주, 정보는
    if is_word and not set(name[1:]) <= _COMMON_SYLLABLES:  # but 이상원 is a name
        return False
    if match["value"][1].isspace() and name[1:] in _SHORT_WORDS:
        return False
    return not (len(name) == 3 and name[1:] in _ENDS)


_SHORT_WORDS: Final = frozenset(word for word in _WORDS if len(word) == 2)
_ENDS: Final = words_of("""
사의 부의 구의 시의 도의 위원 의원 사원 직원 임원 업의 회의 대의 이사 대표 전무 상무 사장 회장 부장 과장
""")
_WORD_ENDS: Final = "주사업자계권용부장문물서지원은는이가을를의도만로과와인"
_HANGUL_NAME: Final = rf"(?:{_DOUBLE}[{_GIVEN}]{{1,2}}|[{_SURNAMES}][{_GIVEN}]{{2}})"
# Syllables of most given names: after a surname and a blank, others are too often words.
_COMMON: Final = (
    "민서준지현수영은우진하윤혜경미정희연주선숙성재동훈상승태원유아예채다나라린빈호철종석규환혁욱섭근용일인창광길순옥춘란보람솔별찬율"
    "건겸슬봄온이소시세"
)
_COMMON_SYLLABLES: Final = frozenset(_COMMON)
_AFTER_BLANK: Final = rf"[{_SURNAMES}]\s[{_COMMON}]{{2}}"
# Beside a word that only a name follows; 이, 한 and 전 are also everyday words before a noun.
_ANY_AFTER_BLANK: Final = rf"(?![이한전안현구신주공방성본])[{_SURNAMES}]\s[가-힣]{{2}}|{_AFTER_BLANK}"
_NO_NAME: Final = (
    "변경|설정|지정|정하|정리|조회|조건|표기|표시|공개|안내|기재|구분|전체|전부|한글|주소|지우|남기|다시|여부|부분|목록|순서|"
    "성별|연락|선정|신규|정보"
)
"""Nouns behind "name" whose first syllable is a surname."""
_SHORT_NAME: Final = rf"[{_SURNAMES}][{_GIVEN}]"
# Syllables that are given names far more often than the end of a word.
_SHORT_GIVEN: Final = "건결란린범별봄빈샘섭솔숙슬욱웅윤율은준진찬창철필현혁환훈희"

KOREAN: Final = (
    *rules(
        "PERSON",
        Sign.TITLE,
        (
            _is_name,
            rf"(?<![가-힣A-Za-z0-9])(?P<value>{_AFTER_BLANK}|{_HANGUL_NAME})\s?(?:씨|님|{_TITLES}){_PARTICLES}",
        ),
        (_is_name, rf"(?<![가-힣A-Za-z0-9])(?:(?P<value>{_SHORT_NAME})\s?(?:씨|님)){_PARTICLES}"),
        (_is_name, rf"(?<![가-힣A-Za-z0-9])(?P<value>[{_SURNAMES}][{_SHORT_GIVEN}])\s{_TITLES}{_PARTICLES}"),
        (
            _is_name,
            r"(?:대표이사|대표|회장|사장|부사장|부회장|전무|상무|담당자|담당|작성자|신청인|신청자|예금주|수신인|수취인|보호자|환자|고객|회원|직원|사원|교수|기자|변호사)",
            rf"(?:(?:명|인|는|은|이|가)?\s{{0,2}}[:=]?|님\s{{0,2}}[:=])\s{{0,2}}(?<![가-힣])(?P<value>{_HANGUL_NAME}){_PARTICLES}",
        ),
        # any given name beside a word that only a name follows
        (
            _is_name,
            r"(?:예금주|성함|성명|수취인|보호자|받는\s?분|보내는\s?분|(?:고객|회원|환자|신청자|보호자)명)(?:명|은|는|이|가)?[\s:=\"'(]{1,3}",
            rf"(?P<value>{_ANY_AFTER_BLANK}|{_DOUBLE}[가-힣]{{1,2}}|[{_SURNAMES}][가-힣]{{2}}){_PARTICLES}",
        ),
        (
            _is_name,
            r"(?:성명|성함|이름|실명|고객명|회원명|담당자|작성자|예금주|수신자|발신자|보낸\s?사람|",
            r"받는\s?사람|full[_ ]?name|customer[_ ]?name|user[_ ]?name|holder|recipient|payee|patient)",
            rf"[\"']?(?:\s{{0,2}}(?:[:=]|은|는)\s{{0,2}}|\s[-–]\s)[\"']?(?P<value>{_ANY_AFTER_BLANK}|{_DOUBLE}[가-힣]{{1,2}}|[{_SURNAMES}][가-힣]{{1,2}}){_PARTICLES}",
        ),
        # "이름 김민수", but not "이름 변경해"
        (
            _is_name,
            rf"(?<![가-힣])(?:이름|받는\s?사람|보낸\s?사람)\s(?P<value>(?!{_NO_NAME})[{_SURNAMES}]",
            rf"(?:[{_COMMON}][{_GIVEN}]|[{_GIVEN}][{_COMMON}])){_PARTICLES}",
        ),
        rf"(?<![A-Za-z])(?P<value>(?:{_CAPITAL})(?:\s(?:{_CAPITAL})){{1,2}})\s?(?:씨|님){_PARTICLES}",
        (
            None,
            rf"(?<![A-Za-z])(?P<value>{_ROMAN}\s[A-Z][a-z]{{1,24}}(?:[- ]?[A-Za-z][a-z]{{1,24}})?|",
            rf"[A-Z][a-z]{{1,24}}(?:[- ]?[A-Za-z][a-z]{{1,24}})?\s{_ROMAN})\s?{_TITLES}{_PARTICLES}",
        ),
    ),
)
# Words of people that look like a surname and a given name: 저는 공무원입니다.
_ROLES: Final = words_of("""
공무원 교직원 구성원 안내원 상담원 연구원 조합원 장애인 연예인 현지인 정치인 임대인 임차인 서양인 동양인
한국인 조선인 소상인 신앙인 기독교인 원주민 이주민 지원자 주문자 문의자 방문자 신고자 심사자 유권자 노동자
고령자 이용자 임산부 심사관 소방관 조종사 변호사 변리사 노무사 전문가 이민자 유경험자
""")
_TITLE: Final = re.compile(_TITLES)


def _is_introduced(match: re.Match[str]) -> bool:
    """Whether somebody says a name, not what they are; most names have a syllable of `_COMMON`."""
    name = re.sub(r"\s", "", match["value"])
    if name in _ROLES or _TITLE.fullmatch(name) or not _is_name(match):
        return False
    return len(name) != 3 or not _COMMON_SYLLABLES.isdisjoint(name[1:])


_SAID: Final = r"(?=\s?(?:입니다|이에요|이예요|예요|에요|인데|이고요|이라|라고|이야|야(?![가-힣])))"
"""Behind a name that somebody says of themselves."""
_CALLED: Final = (
    r"(?=\s?(?:이?라고\s?(?:합니다|해요|해(?![가-힣])|하는|하며|불러|부르|말씀|적)|이?라는\s?사람))"
)
_NAME_AFTER_BLANK: Final = rf"(?![이한전안현구신주공방성본]){_AFTER_BLANK}"


def _is_called(match: re.Match[str]) -> bool:
    return re.match(_CALLED, match.string[match.end() : match.end() + 8]) is not None


INTRODUCED: Final = (
    *rules(
        "PERSON",
        Sign.INTRODUCTION,
        # 저는 김민수입니다
        (
            _is_introduced,
            r"(?<![가-힣])(?:저는|제가|나는|내가|저|전|난)\s{1,3}[\"']?",
            rf"(?P<value>{_NAME_AFTER_BLANK}|{_HANGUL_NAME}|[{_SURNAMES}][{_SHORT_GIVEN}])[\"']?{_SAID}",
        ),
        # 김민수라고 합니다
        (_is_introduced, rf"(?<![가-힣])[\"']?(?P<value>{_NAME_AFTER_BLANK}|{_HANGUL_NAME})[\"']?{_CALLED}"),
        # 안녕하세요, 김민수입니다; 이름이 김민수예요
        (
            _is_introduced,
            rf"(?:안녕하(?:세요|십니까)[\s,.!~]{{1,4}}|(?:이름|성함)[은이]\s{{0,2}})[\"']?(?P<value>{_NAME_AFTER_BLANK}|{_HANGUL_NAME})[\"']?{_SAID}",
        ),
        # my name is 김민수
        (
            _is_introduced,
            r"(?i:my name(?:['’]s| is)|i[’']m|i am|this is)\s",
            rf"(?P<value>{_NAME_AFTER_BLANK}|{_HANGUL_NAME})(?![가-힣])",
        ),
        # 제 이름은 존 스미스입니다
        (
            None,
            r"(?<![가-힣])(?:제|내|저의|나의)\s?(?:이름|성함)은\s{1,3}[\"']?",
            rf"(?P<value>(?!비밀|익명|무엇|뭐)[가-힣]{{1,5}}?(?:\s[가-힣]{{1,5}}?)?)[\"']?{_SAID}",
        ),
        # 저는 John Smith입니다, 제 이름은 Jane입니다, but not 저는 Premium입니다
        (
            lambda match: " " in match["value"] or match["word"][-2:-1] in {"름", "함"} or _is_called(match),
            r"(?<![가-힣])(?P<word>저는|나는|전|난|(?:[제내]\s?|저의\s|나의\s)?(?:이름|성함)[은이])\s[\"']?",
            rf"(?P<value>(?:{_CAPITAL})(?:\s(?:{_CAPITAL})){{0,2}})[\"']?(?:{_SAID}|{_CALLED})",
        ),
    ),
)


# Capitalised words after "name:" or "customer:" that are no names of persons.
_NOT_NAMES: Final = words_of("""
Account Accounts Acme Agreement All Alpha America American Analysis Annual Applicant Asia Asset Assets
Balance Bank Beta Board Book Budget Business Capital Case Cash Category Center Chart China City Class Client
Code Colleague Colleagues Column Committee Companies Company Corp Corporation Country Credit Customer
Customers Data Database Date Debt Default Department Description Dividend Division Earnings Editor
Electronics Energy English Enterprise Entity Equity Error Europe Event Everyone Exchange Expense False Field
File Finance Financial First Flow Free Friends Fund General Global Gross Group Growth Guest Health Hiring
Holdings Id Income Index Industries Industry Info Insurance International Inventory Investment Investor
Investors Item Japan Key Kind Korea Korean Last Legal Level Limited List Loss Madam Manager Margin Market
Markets Material Member Members Method Model Motors Name National Net New None North Note Null Number Office
Operating Order Orders Other Owner Param Parameter Partner Partners Pending Plan Price Product Products
Profit Project Public Quarter Quarterly Query Ratio Reader Real Region Report Request Required Research
Result Results Return Revenue Sales Sector Securities Segment Sequence Series Service Services Set Share
Shareholder Shareholders Shares Sheet Sir Sirs Solutions South State Statement Status Stock Story Street
String Summary Support System Table Tax Team Tech Technologies Technology Test Text The This Time Title Tool
Total Trade Trading True Trust Type Unit United Unknown User Users Value Valued Version View Web World Year
Yes You Your
""")
_LATIN_NAME: Final = rf"(?:{_CAPITAL})(?:\s{{1,2}}(?:{_CAPITAL}|de|van|von|der|del|la|bin|al)){{0,3}}"


def _is_latin_name(match: re.Match[str]) -> bool:
    """Whether no capitalised word is a word of business."""
    words = match["value"].split()
    if "full" in match.re.groupindex and match["full"] is None and len(words) < 2:
        return False
    return _NOT_NAMES.isdisjoint(words)


_FULL_NAME_FIELD: Final = (
    r"(?:full|customer|client|patient|contact|recipient|user|holder|payee|cardholder)[ _-]?name|"
    r"patient|recipient|payee|(?:card|account|policy)[ _-]?holder|beneficiary"
)
# Words of lower case after such a field that are no name of a person.
_NO_LOWER: Final = words_of("""
is are was were be not no the a an of in on at to for from with by and or must should can may will has
have had this that it its as if any all new old same other required missing invalid unknown empty
optional given found set unset only first last full given family name names field value string text
number email phone address list lists order orders item items service support team desk user users
customer customers client account test here please default see
""")


def _is_lower_name(match: re.Match[str]) -> bool:
    """Whether words of lower case are none of business and none of grammar."""
    words = match["value"].split()
    return _NO_LOWER.isdisjoint(words) and _NOT_NAMES.isdisjoint(map(str.title, words))


# Words of sentences in capitals: "I'm On Board", "This is Urgent".
_NO_SELF: Final = words_of("""
A About Above Again All Also Am An And Any Are Asking At Back Be Because Before But By Calling Can
Canadian Chinese Coming Currently Day Days Doing Done Dutch European Fine For French Friday From Fun
German Getting Glad Going Good Great Happy Having He Here How I If In Indian Interested Into Is It Italian
Japanese Just Later Let Like Looking Mad Make Maybe Monday More Much My Nice No Not Now Of Off Okay On
Only Or Our Out Over Please Ready Really Right Running Saturday She Side So Sorry Spanish Still Sunday
Super Sure Swiss Taking Thank Thanks That There Thursday To Today Tomorrow Tonight Too Trying Tuesday
Under Up Urgent Using Very Via Waiting Wednesday Well Were What When Where Which Who Why Will With Working
Writing
""")


def _is_self(match: re.Match[str]) -> bool:
    return _NO_SELF.isdisjoint(match["value"].split()) and _is_latin_name(match)


_TWO_NAMES: Final = rf"(?:{_CAPITAL})(?:\s{{1,2}}(?:{_CAPITAL}|de|van|von|der|del|la|bin|al)){{1,3}}"
_APOSTROPHE: Final = "['’]"
_BEHIND_NAME: Final = r"(?![A-Za-z(_])"
RULES: Final = (
    *rules(
        "PERSON",
        Sign.NAME,
        # full name: john smith, in lower case only as the whole value of such a field
        (
            _is_lower_name,
            rf"(?<![A-Za-z])(?i:{_FULL_NAME_FIELD}|my (?:full )?name is)",
            r"[\"']?(?:\s{0,2}[:=]\s{0,2}|\s[-–]\s|(?<=\bis)\s|\s(?:is|was)\s)[\"']?",
            r"(?P<value>[a-zà-ÿ]{2,20}(?:\s(?:[a-zà-ÿ]\.?\s)?(?:(?:de|van|von|der|del|la|bin|al)\s){0,2}",
            r"[a-zà-ÿ][a-zà-ÿ'’-]{1,24}){1,2})(?=[\"',;.)\]}|/]|\s*$|\s*\n|\s[-–(|])",
        ),
        # name: John Smith; a single word only beside a word for a person
        (
            _is_latin_name,
            r"(?<![A-Za-z])(?:(?P<full>(?i:(?:full|first|last|given|family|customer|client|patient|",
            r"contact|recipient|user|holder|payee)[ _-]?name|patient|recipient|payee|",
            r"(?:card|account|policy)[ _-]?holder|beneficiary))|",
            r"(?i:name|customer|client|contact))",
            rf"[\"']?(?:\s{{0,2}}[:=]\s{{0,2}}|\s[-–]\s)[\"']?(?P<value>{_LATIN_NAME})(?![A-Za-z(_])",
        ),
        (
            _is_latin_name,
            r"(?<![A-Za-z])(?:[Dd]ear|[Pp]atient(?=\s[A-Z][a-z'-]{1,24}\s[A-Z])|",
            r"[Mm]y (?:full )?name is|[Nn]ame is)\s(?!(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof)\b)",
            rf"(?P<value>{_LATIN_NAME})(?![A-Za-z(_])",
        ),
    ),
    *rules(
        "PERSON",
        Sign.INTRODUCTION,
        # my name's john smith and I need help
        (
            _is_lower_name,
            rf"(?i:(?<![a-z])my (?:full )?name(?:{_APOSTROPHE}s| is)\s)",
            r"(?P<value>[a-zà-ÿ]{2,20}\s[a-zà-ÿ][a-zà-ÿ'’-]{1,24})(?=\s(?:and|but|from|i|my|here|calling|with|so)\b|[\"',;.!]|\s*$)",
        ),
        # I'm John Smith
        (
            _is_self,
            rf"(?<![A-Za-z])(?:[Ii](?:{_APOSTROPHE}m|\sam)|[Nn]ame{_APOSTROPHE}s|[Ii]\sgo\sby|[Cc]all\sme)\s(?P<value>{_TWO_NAMES}){_BEHIND_NAME}",
        ),
        # call me Jane
        (
            _is_self,
            rf"(?<![A-Za-z])(?:[Nn]ame{_APOSTROPHE}s|[Ii]\sgo\sby|[Cc]all\sme)\s(?P<value>{_CAPITAL}){_BEHIND_NAME}",
        ),
        # Hello, this is Jane Roe; this is Jane Roe speaking
        (
            _is_self,
            rf"(?:(?:[Hh]i|[Hh]ello|[Hh]ey)(?:\s[Tt]here)?[,!.\s]{{1,3}}[Tt]his\sis\s(?P<value>{_TWO_NAMES}){_BEHIND_NAME})",
        ),
        (
            _is_self,
            rf"(?<![A-Za-z])(?:[Tt]his\sis\s)?(?P<value>{_TWO_NAMES})(?=\s(?:speaking|here)(?:[.,!;:]|\s*$|\n))",
        ),
        # Best regards, Jane Roe
        (_is_self, rf"(?i:regards|sincerely)[,.]?\s{{1,3}}(?P<value>{_TWO_NAMES})(?=\s*$|\s*\n|[.,])"),
    ),
    *rules(
        "PERSON",
        Sign.LATIN_TITLE,
        rf"(?<![A-Za-z])(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Sir|Madam|Lady)\.?\s{{1,2}}(?P<value>(?!(?:Pepper|Martens|Oetker|Scholl|Clean|Muscle|Right|Coffee|Robot|Bean)(?![a-z]))(?:(?:van|von|de|der|den|la|del|di|da|ter|bin|al)\s){{0,3}}(?:{_CAPITAL})(?:\s{{1,2}}(?:{_CAPITAL})){{0,3}}|[A-Z](?:\s[a-z]){{2,20}}(?![A-Za-z]))",
        rf"(?<![A-Za-z])(?:MR|MRS|MS|DR|mr|mrs|ms|dr)\.\s{{0,2}}(?P<value>[A-Za-z][a-zA-Z'-]+(?:\s{_ROMAN}|\s[A-Z][a-zA-Z'-]+){{0,2}})",
        rf"(?<![A-Za-z])(?:CEO|CFO|CTO|COO|Chairman|Chairwoman|President)\s(?P<value>(?!of\b)(?:{_CAPITAL})\s(?:{_CAPITAL})(?:\s(?:{_CAPITAL}))?)",
    ),
)
