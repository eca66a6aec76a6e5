from .building import build_report as build_report, write_report as write_report
from .page import Page as Page
