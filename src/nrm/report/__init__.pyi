from .animation import (
    bars as bars,
    caption as caption,
    captioned as captioned,
    ending as ending,
    gif as gif,
    observed as observed,
)
from .building import (
    build_report as build_report,
    curves as curves,
    method_data as method_data,
    write_report as write_report,
)
from .drawing import Tiles as Tiles, machine_data as machine_data
from .page import Page as Page, page_part as page_part, single_page as single_page
from .recording import record_task as record_task
from .trials import choose as choose, view_data as view_data
from .words import shortcut_words as shortcut_words
