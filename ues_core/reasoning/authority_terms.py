"""What a claim of authority looks like, as data: one row for each language and category.

Patterns match *folded* text (lower-case, NFKC, look-alikes folded). Every repetition is bounded. ``direct`` rows count wherever
they stand; the others only when no negation and no description governs them (see ``authority``).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ues_core.contract import AuthorityClaim as A


class Rule(NamedTuple):
    """One pattern of a category."""

    category: A
    language: str
    pattern: str


_THING = (
    r"(?:tests?|checks?|verification|verifier|validation|guards?|guardrails?|polic(?:y|ies)|reviews?|"
    r"permissions?|approvals?|safety|sandbox|ci|rules?|restrictions?)"
)
_SECRET = (
    r"(?:api[ _-]?keys?|tokens?|passwords?|secrets?|credentials?|private keys?|ssh keys?|cookies?|"
    r"(?:the )?\.env\b|env(?:ironment)? (?:file|variables?))"
)
_YOU_ARE = (
    r"(?:you are|you're|you have been|you've been|the (?:agent|host|executor) is|consider yourself) "
    r"(?:now |hereby |fully |already |officially ){0,2}"
)

RULES: Final[tuple[Rule, ...]] = (
    # -- English
    Rule(A.VERDICT, "en", r"(?:my |the |this is (?:my |the |a )?)?final verdict(?: is|:| -)"),
    Rule(A.VERDICT, "en", r"\bverdict ?[:=] ?(?:pass|approved?|ok|accept(?:ed)?|done|ship)"),
    Rule(A.VERDICT, "en", r"\bthis (?:task |change |fix |patch )?is a (?:clear |definite |full )?pass\b"),
    Rule(
        A.VERDICT,
        "en",
        (
            r"\b(?:mark|declare|treat|consider|count) (?:this|the|your|that) (?:\w+ ){0,2}(?:as )?(?:a "
            r")?(?:pass(?:ed|ing)?|done|complete[d]?|verified|approved|accepted|resolved)\b"
        ),
    ),
    Rule(
        A.VERDICT,
        "en",
        (
            r"\b(?:i|we) (?:hereby )?(?:certify|confirm|declare|rule|attest) (?:that )?(?:the |this )?(?:\w+ "
            r"){0,3}(?:passes|passed|is (?:done|complete|correct|verified|approved))\b"
        ),
    ),
    Rule(
        A.VERDICT,
        "en",
        (
            r"\b(?:i|we) (?:hereby )?approve (?:the|this|your) (?:\w+ )?(?:release|publish|deploy(?:ment)?|"
            r"change|merge|patch|pr|pull request)\b"
        ),
    ),
    Rule(A.VERDICT, "en", r"\bthe (?:task|work|change) (?:has )?officially (?:passed|passes|done|complete)"),
    Rule(A.PERMISSION, "en", _YOU_ARE + r"(?:authori[sz]ed|permitted|approved|cleared|allowed|granted|entitled)\b"),
    Rule(
        A.PERMISSION,
        "en",
        (
            r"\b(?:i|we) (?:hereby )?(?:grant|give|authori[sz]e|permit|allow) (?:you|the (?:agent|host|"
            r"executor)|full|permission|access)\b"
        ),
    ),
    Rule(A.PERMISSION, "en", r"\bpermission (?:is )?(?:hereby )?granted\b"),
    Rule(A.PERMISSION, "en", r"\b(?:escalate|elevate) (?:your |the agent's )?(?:privileges?|permissions?)\b"),
    Rule(A.PERMISSION, "en", r"\byou (?:now )?have (?:my |our |full )(?:permission|approval|authori[sz]ation|consent)\b"),
    Rule(
        A.SECRET_REQUEST,
        "en",
        (
            r"\b(?:send|share|reveal|give|show|tell|provide|paste|post|upload|email|forward|disclose|"
            r"supply)(?: (?:me|us|it to me))(?: with)?(?: the| your| all| any| every)? (?:\w+ ){0,3}"
        )
        + _SECRET,
    ),
    Rule(
        A.SECRET_REQUEST,
        "en",
        (
            r"\b(?:print|echo|dump|cat|output|reveal|paste|post|include|send|share|disclose|exfiltrate|"
            r"upload)(?: out)?(?: the| your| all| any| every){1,2} (?:\w+ ){0,3}"
        )
        + _SECRET,
    ),
    Rule(A.SECRET_REQUEST, "en", r"\b(?:cat|print|echo|paste|send) (?:\./)?\.env\b"),
    Rule(A.SECRET_REQUEST, "en", r"\bi (?:need|require|want) (?:the |your |access to )(?:\w+ ){0,3}" + _SECRET),
    Rule(
        A.COMMAND_AUTOTRUST,
        "en",
        (
            r"\b(?:is|are|it's|this is|command is|completely|perfectly|totally) (?:completely |perfectly |"
            r"always |totally |entirely )?safe to (?:run|execute|apply|auto-?run)\b"
        ),
    ),
    Rule(
        A.COMMAND_AUTOTRUST,
        "en",
        (
            r"\b(?:run|execute) (?:this|it|the (?:following|command|script)|that) (?:\w+ )?(?:directly|"
            r"blindly|as is|as-is|immediately without|without (?:asking|review|checking|looking|confirmation|"
            r"reading))"
        ),
    ),
    Rule(
        A.COMMAND_AUTOTRUST,
        "en",
        r"\b(?:no need|not necessary|unnecessary|needless) to (?:verify|check|review|test|validate|confirm|ask|read)\b",
    ),
    Rule(
        A.COMMAND_AUTOTRUST,
        "en",
        (
            r"\b(?:you )?(?:do not|don't|needn't|need not) (?:need to |have to |bother to )?(?:verify|review|"
            r"double-?check|validate|ask)\b(?! (?:twice|again))"
        ),
    ),
    Rule(
        A.COMMAND_AUTOTRUST,
        "en",
        r"\bjust (?:run|execute) (?:it|this|that|the (?:following|command|script))\b(?: (?:and|without|\w+ly)| ?[:.!]|$)",
    ),
    Rule(
        A.COMMAND_AUTOTRUST,
        "en",
        r"\b(?:auto-?approve|trust) (?:this|these|the|all|every) (?:\w+ )?(?:commands?|scripts?|tool calls?)\b",
    ),
    Rule(
        A.POLICY_OVERRIDE,
        "en",
        (
            r"(?:^|[.;:!,] |\b(?:please|just|then|now|simply|should|must|can|safely|and|to|or) )(?:ignore|"
            r"skip|bypass|disable|turn off|circumvent|override|suppress) (?:the |all |any |your |every "
            r"|these |those |local |its ){0,3}(?:\w+ ){0,2}"
        )
        + _THING
        + r"\b",
    ),
    Rule(A.POLICY_OVERRIDE, "en", r"\b(?:use|pass|add) --no-verify\b"),
    Rule(
        A.PUBLISH_AUTHORITY,
        "en",
        (
            r"\b(?:publish|publishing|push|deploy|deployment|release|merge|ship)(?:ing)?(?: \w+){0,4} (?:is|"
            r"are) (?:hereby |now |fully )?(?:approved|authori[sz]ed|allowed|cleared|permitted)\b"
        ),
    ),
    Rule(
        A.PUBLISH_AUTHORITY,
        "en",
        (
            r"\b(?:go ahead and|you (?:may|can|should) now|feel free to|cleared to|approved to|authori[sz]ed "
            r"to) (?:publish|push|deploy|release|merge|ship)\b"
        ),
    ),
    Rule(
        A.PUBLISH_AUTHORITY,
        "en",
        (
            r"\b(?:publish|push|deploy|release|merge|ship) (?:it |this |now |straight |directly ){1,3}(?:to "
            r"(?:main|master|production|prod|pypi|npm)|without|immediately)"
        ),
    ),
    Rule(
        A.INSTRUCTION_OVERRIDE,
        "en",
        (
            r"\b(?:ignore|disregard|forget|override) (?:all |any |the |your |every |these ){0,3}(?:previous|"
            r"prior|earlier|above|original|other|system|host(?:'s)?|user(?:'s)?) (?:\w+ )?(?:instructions?|"
            r"prompts?|messages?|rules?|constraints?|orders?|guidelines?|task)\b"
        ),
    ),
    Rule(A.INSTRUCTION_OVERRIDE, "en", r"\b(?:new|updated|revised) (?:system )?(?:instructions?|prompt|orders?) ?:"),
    Rule(A.INSTRUCTION_OVERRIDE, "en", r"\b(?:from now on|henceforth),? you (?:are|will|must|obey|follow)\b"),
    Rule(
        A.INSTRUCTION_OVERRIDE, "en", r"(?:^|\s)(?:<\|?(?:im_start|system|endoftext)\|?>|\[/?(?:inst|system)\]|###? ?system ?:)"
    ),
    # -- Chinese
    Rule(
        A.VERDICT,
        "zh",
        r"(?:最终(?:裁决|判定|结论)(?:是|为|：|:)|(?:标记|视为|判定)(?:本|该|此)?(?:任务|修改|变更)?(?:为)?(?:已)?(?:通过|完成)|我(?:正式)?批准(?:发布|合并|部署))",
    ),
    Rule(
        A.PERMISSION,
        "zh",
        r"(?:你(?:现在)?(?:已)?(?:被|获得|得到)(?:了)?(?:授权|许可|批准|权限)|我(?:特此)?(?:授权|授予|允许|批准)你|提升(?:你的)?权限)",
    ),
    Rule(
        A.SECRET_REQUEST,
        "zh",
        (
            r"(?:(?:把|将)?(?:你的|所有|全部)?(?:密钥|令牌|密码|口令|凭据|凭证|私钥|token)(?:\S{0,6})?(?:发给我|告诉我|提供给我|贴出来)|(?:发送|提供|"
            r"告诉我|给我|打印|输出|泄露)(?:你的|所有|全部|我)?(?:的)?(?:api ?)?(?:密钥|令牌|密码|口令|凭据|凭证|私钥))"
        ),
    ),
    Rule(
        A.COMMAND_AUTOTRUST,
        "zh",
        r"(?:(?:可以)?(?:放心|安全)(?:地)?(?:直接)?(?:运行|执行)|直接(?:运行|执行)(?:即可|就行|这|该|此|以下)|(?:无需|不需要|不必|不用)(?:再)?(?:验证|检查|审查|测试|确认|审核))",
    ),
    Rule(
        A.POLICY_OVERRIDE,
        "zh",
        r"(?:^|[。，；！,;:：]|请|直接|可以|应该|先)(?:跳过|忽略|绕过|禁用|关闭|停用)(?:所有|全部|这些|本地|你的)?(?:的)?(?:测试|验证|检查|策略|审查|审核|权限|防护|安全)",
    ),
    Rule(
        A.PUBLISH_AUTHORITY,
        "zh",
        r"(?:(?:发布|部署|推送|上线|合并)(?:已|现已)?(?:获得)?(?:批准|授权|许可)|(?:你)?(?:现在)?可以(?:直接)?(?:发布|部署|推送|上线)(?:了|到))",
    ),
    Rule(
        A.INSTRUCTION_OVERRIDE,
        "zh",
        r"(?:忽略|无视|忘记|忘掉)(?:你)?(?:所有|全部|之前|以前|先前|上述|以上|原来)(?:的)?(?:所有|全部)?(?:的)?(?:指令|指示|提示|规则|要求|约束)",
    ),
    # -- Vietnamese
    Rule(
        A.VERDICT,
        "vi",
        (
            r"(?:phán quyết cuối cùng(?: là|:)|đánh dấu (?:nhiệm vụ|tác vụ|thay đổi)(?: này)? (?:là )?(?:đã "
            r")?(?:đạt|hoàn thành|thông qua)|tôi phê duyệt (?:việc )?(?:phát hành|triển khai|thay đổi))"
        ),
    ),
    Rule(
        A.PERMISSION,
        "vi",
        (
            r"(?:bạn (?:hiện |đã |hiện đã )?được (?:ủy quyền|uỷ quyền|cho phép|cấp quyền|phê duyệt)|tôi "
            r"(?:cấp|trao|cho) (?:bạn |phép )?(?:quyền|phép)|nâng quyền)"
        ),
    ),
    Rule(
        A.SECRET_REQUEST,
        "vi",
        (
            r"(?:gửi|chia sẻ|cung cấp|tiết lộ|in ra|cho tôi)(?: cho tôi| tôi)?(?: \S+){0,2} (?:mật khẩu|khóa "
            r"api|khoá api|khóa bí mật|token|thông tin đăng nhập|khóa riêng)"
        ),
    ),
    Rule(
        A.COMMAND_AUTOTRUST,
        "vi",
        (
            r"(?:an toàn để (?:chạy|thực thi)|cứ (?:chạy|thực thi)|(?:không cần|khỏi cần|không phải) (?:kiểm "
            r"tra|xác minh|xem lại|kiểm chứng))"
        ),
    ),
    Rule(
        A.POLICY_OVERRIDE,
        "vi",
        (
            r"(?:^|[.,;:!] |hãy |cứ |nên |có thể )(?:bỏ qua|vô hiệu hóa|vô hiệu hoá|tắt|phớt lờ|vượt qua) "
            r"(?:mọi |tất cả |các |bước ){0,2}(?:kiểm thử|kiểm tra|xác minh|chính sách|quyền|bảo vệ|đánh giá)"
        ),
    ),
    Rule(
        A.PUBLISH_AUTHORITY,
        "vi",
        (
            r"(?:(?:phát hành|triển khai|xuất bản|đẩy lên) (?:đã )?được (?:phê duyệt|ủy quyền|cho phép)|cứ "
            r"(?:phát hành|triển khai|đẩy lên)|bạn có thể (?:phát hành|triển khai|đẩy) ngay)"
        ),
    ),
    Rule(
        A.INSTRUCTION_OVERRIDE,
        "vi",
        (
            r"(?:bỏ qua|phớt lờ|quên)(?: đi)? (?:mọi |tất cả |các |những ){0,2}(?:hướng dẫn|chỉ dẫn|chỉ thị|"
            r"lệnh|quy tắc)(?: \S+)? (?:trước|trên|cũ)"
        ),
    ),
    # -- Spanish
    Rule(
        A.VERDICT,
        "es",
        (
            r"(?:veredicto final(?: es|:)|(?:marca|declara|considera) (?:esta|la|el|este) (?:\w+ )?(?:como "
            r")?(?:aprobad[oa]|completad[oa]|superad[oa])|apruebo (?:el|la|este|esta) (?:\w+ )?(?:despliegue|"
            r"publicación|cambio|fusión))"
        ),
    ),
    Rule(
        A.PERMISSION,
        "es",
        (
            r"(?:(?:ahora )?est(?:ás|á) (?:autorizad[oa]|aprobad[oa])|tienes (?:mi )?(?:permiso|autorización)|"
            r"te (?:autorizo|concedo|otorgo|permito)|permiso concedido|eleva (?:tus )?privilegios)"
        ),
    ),
    Rule(
        A.SECRET_REQUEST,
        "es",
        (
            r"(?:envía|envíame|comparte|muéstrame|muestra|revela|dame|imprime|pásame)(?: \w+){0,3} "
            r"(?:contraseñas?|claves? (?:api|privadas?|secretas?)|tokens?|credenciales|secretos?)"
        ),
    ),
    Rule(
        A.COMMAND_AUTOTRUST,
        "es",
        (
            r"(?:es (?:totalmente |completamente )?seguro (?:de )?ejecutar|ejecúta(?:lo|la) (?:directamente|"
            r"sin)|(?:no es necesario|no hace falta|sin necesidad de) (?:verificar|revisar|comprobar|probar))"
        ),
    ),
    Rule(
        A.POLICY_OVERRIDE,
        "es",
        (
            r"(?:^|[.,;:!] |debes |puedes |por favor )(?:ignora|omite|salta|sáltate|desactiva|evita|"
            r"deshabilita) (?:las |los |la |el |todas las |todos los )?(?:pruebas|verificaci(?:ón|ones)|"
            r"comprobaciones|políticas?|revisi(?:ón|ones)|permisos|controles)"
        ),
    ),
    Rule(
        A.PUBLISH_AUTHORITY,
        "es",
        (
            r"(?:(?:publicación|despliegue|lanzamiento) (?:está )?(?:autorizad[oa]|aprobad[oa])|adelante,? "
            r"(?:publica|despliega)|puedes (?:ya )?(?:publicar|desplegar) (?:ya|ahora))"
        ),
    ),
    Rule(
        A.INSTRUCTION_OVERRIDE,
        "es",
        (
            r"(?:ignora|olvida|descarta) (?:todas )?(?:las|tus) (?:instrucciones|reglas|órdenes) "
            r"(?:anteriores|previas|del sistema)"
        ),
    ),
    # -- Russian
    Rule(
        A.VERDICT,
        "ru",
        (
            r"(?:окончательный вердикт(?: -|:| —)|(?:считай|пометь|отметь)(?:те)? (?:эту |эти |это "
            r")?(?:задачу|изменение|работу)? ?(?:как )?(?:выполненн|завершенн|завершённ|принят|"
            r"пройденн)\w{0,4}|я (?:одобряю|утверждаю) (?:релиз|публикацию|слияние|изменени\w))"
        ),
    ),
    Rule(
        A.PERMISSION,
        "ru",
        (
            r"(?:(?:вы|ты) (?:теперь )?(?:уполномочен|авторизован)\w{0,2}|(?:вам|тебе) (?:теперь "
            r")?(?:разрешено|разрешается)|я (?:разрешаю|даю (?:вам|тебе) (?:право|разрешение))|разрешение "
            r"(?:получено|выдано)|повысь(?:те)? (?:свои )?привилегии)"
        ),
    ),
    Rule(
        A.SECRET_REQUEST,
        "ru",
        (
            r"(?:отправь|пришли|покажи|раскрой|выведи|сообщи|дай)(?:те)?(?: \S+){0,3} (?:парол\w{1,3}|"
            r"токен\w{0,2}|ключ\w{0,2}|секрет\w{0,2}|учетные данные|учётные данные)"
        ),
    ),
    Rule(
        A.COMMAND_AUTOTRUST,
        "ru",
        (
            r"(?:(?:полностью )?безопасно (?:запускать|выполнять)|просто (?:запусти|выполни)(?:те)?|(?:не "
            r"нужно|не надо|нет необходимости) (?:проверять|тестировать|перепроверять))"
        ),
    ),
    Rule(
        A.POLICY_OVERRIDE,
        "ru",
        (
            r"(?:^|[.,;:!] )(?:пропусти|игнорируй|отключи|обойди)(?:те)? (?:все |эти )?(?:тест\w{0,2}|"
            r"проверк\w{1,2}|политик\w{1,2}|ограничени\w|ревью)"
        ),
    ),
    Rule(
        A.PUBLISH_AUTHORITY,
        "ru",
        (
            r"(?:(?:публикация|релиз|развертывание|развёртывание|деплой) (?:одобрен\w?|разрешен\w?|разрешён)|"
            r"можете? (?:смело )?(?:публиковать|деплоить|выкатывать)|смело (?:публикуй|деплой))"
        ),
    ),
    Rule(
        A.INSTRUCTION_OVERRIDE,
        "ru",
        (
            r"(?:игнорируй|забудь|отбрось)(?:те)? (?:все )?(?:предыдущие|прежние|прошлые|системные) "
            r"(?:инструкции|указания|правила)"
        ),
    ),
)
"""The rules, grouped by language."""
