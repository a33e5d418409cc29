"""The words that the lints look for, as data. Add a language by adding its words; nothing else changes."""

from __future__ import annotations

# RD-3: the open form of a recommendation that rests on nothing better. Seed wording: "best-guess in absence of …".
BEST_GUESS = (
    "best guess", "best-guess", "beste vermutung", "beste schätzung", "meilleure estimation", "meilleure supposition",
    "mejor suposición", "mejor estimación", "melhor palpite", "melhor estimativa", "лучшее предположение",
    "лучшая догадка",
    "最佳猜测", "最佳推测", "最佳猜測", "最善の推測", "最善の推定",
    "최선의 추측", "최선의 추정", "phỏng đoán tốt nhất",
)  # fmt: skip

# Claims of authority that name no authority.
BEST_PRACTICE = (
    "best practice", "best practices", "best-practice", "industry standard", "industry standards",
    "standard practice", "common practice", "gold standard", "bewährte praxis", "bonnes pratiques", "bonne pratique",
    "buenas prácticas", "mejores prácticas", "boas práticas", "лучшие практики", "最佳实践", "最佳實踐", "行业标准",
    "ベストプラクティス", "모범 사례", "thông lệ tốt nhất",
)  # fmt: skip

# Praise says nothing of what is gained or lost.
PRAISE = frozenset(
    """
    adequate awesome bad beautiful best better clean clear clever convenient cool easiest easy efficient effective
    elegant excellent fast faster fastest fine flexible friendly good great handy ideal intuitive lean lightweight
    modern neat nice nicer optimal perfect poor popular powerful preferable preferred pretty professional proper
    quick quicker quickest recommended reliable robust safe scalable simple simpler simplest sleek slick slow slower
    smart solid standard straightforward strong stylish suitable superior traditional ugly useful weak worse worst
    einfach gut besser beste schnell modern sauber schlecht
    simple bon bonne meilleur rapide moderne propre
    bueno mejor rápido moderno limpio sencillo fácil
    bom melhor moderno limpo simples
    好 快 简单 现代 更好 最好
    """.split()  # noqa: SIM905 - a column of words is easier to extend than a list of quotes
)

# Words that carry no content of their own; without them the rest of a phrase is compared.
FILLER = frozenset(
    """
    a also an and are as at be because been but by choice do does far for from has have in is it its just less let me
    more most much of on one option or our out overall please pretty really recommend recommendation recommended quite
    simply so some take than that the their them then there these they this those to too use used using very was way
    we well which why will with you your
    aber am auch das der die ein eine ist mit sehr und
    c'est de est et la le les très un une
    el es la lo los más muy un una y
    """.split()  # noqa: SIM905
)

# RD-2: the question does not lean. Only phrases that push towards an answer, not every strong word.
LEADING = (
    "obviously", "clearly", "surely", "of course", "naturally", "needless to say", "no-brainer", "no brainer",
    "don't you", "don't we", "wouldn't you", "shouldn't we", "isn't it", "aren't you", "won't you", "would you agree",
    "you agree that", "everyone knows", "as everyone", "as any professional", "we recommend", "i recommend",
    "the best choice", "the right choice", "the only sensible", "should we just", "can we just", "just go with",
    "natürlich", "offensichtlich", "selbstverständlich", "évidemment", "bien sûr", "obviamente", "por supuesto",
    "claramente", "очевидно", "конечно", "显然", "当然", "毫无疑问", "もちろん", "明らかに", "당연히", "물론",
    "hiển nhiên",
)  # fmt: skip

# A label is read before its reason; praise in it is a recommendation in disguise.
LEADING_LABEL = (
    "recommended",
    "best option",
    "best choice",
    "the right way",
    "empfohlen",
    "推荐",
    "推薦",
    "おすすめ",
    "추천",
)

# Two decisions in one topic.
JOINING = frozenset(("and", "&", "+", "plus", "und", "sowie", "et", "y", "e", "и", "và"))
JOINING_SPACELESS = ("以及", "及び", "および", "และ", "和", "与", "與")
ASKING = frozenset(
    """
    are can could do does how is should what when where which who whom whose why will would
    wann warum was welche welcher welches wer wie wo
    combien comment où pourquoi quand quel quelle quels quelles qui
    cómo cuál cuáles cuándo cuánto dónde qué quién
    """.split()  # noqa: SIM905
)

# A card must be answerable by someone who sees nothing else. Field case b05: "Please see my three questions above."
ELSEWHERE = (
    "see my questions", "see my question", "my questions above", "questions above", "question above", "see above",
    "listed above", "as above", "questions below", "see below", "see my previous message", "see previous message",
    "siehe oben", "voir ci-dessus", "ver arriba", "见上", "见上文",
)  # fmt: skip
