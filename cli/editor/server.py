"""Server of the language server protocol: one document at a time, nothing written by itself."""

from __future__ import annotations

from typing import Iterator

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from ...models.dialect_names import DIALECTS
from ...models.findings.finding import Finding, Severity, UnusableInput
from ...report.results import whole_message
from ...report.terminal import escape
from ..pages import page_text
from .document import OpenDocument, Position
from .keys import meaning, suggestions

SOURCE = "placewright"
_SEVERITIES = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.NOTE: lsp.DiagnosticSeverity.Information,
}


class PlacementServer(LanguageServer):
    """Language server with the documents that are open."""

    def __init__(self, version: str) -> None:
        super().__init__(SOURCE, version)
        self.open: dict[str, OpenDocument] = {}

    def document(self, uri: str) -> OpenDocument:
        """Return the document as it stands in the editor; an empty one if unopened."""
        if uri not in self.workspace.text_documents:
            return OpenDocument(uri, "")
        text = self.workspace.get_text_document(uri)
        document = self.open.get(uri)
        if document is None or document.text != text.source:
            document = self.open[uri] = OpenDocument(text.path or uri, text.source)
        return document

    def check(self, uri: str) -> None:
        """Verify a document and publish its findings."""
        version = self.workspace.get_text_document(uri).version
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, list(diagnostics(self.document(uri))), version))


def diagnostics(document: OpenDocument) -> Iterator[lsp.Diagnostic]:
    """Yield a diagnostic per finding, and one for what is missing for a verdict."""
    try:
        for finding in document.findings:
            yield _diagnostic(document, finding)
        for report in document.reports:
            for missing in report.missing[:1] if not report.errors else ():
                words = f"incomplete: {missing.fact}. {missing.add}"
                yield lsp.Diagnostic(_range(document.range_of(None)), escape(words), lsp.DiagnosticSeverity.Information, source=SOURCE)
    except (UnusableInput, ValueError) as problem:  # the settings of the project
        words = f"{problem} (settings of placewright)"
        yield lsp.Diagnostic(_range(document.range_of(None)), escape(words), lsp.DiagnosticSeverity.Error, source=SOURCE)


def _diagnostic(document: OpenDocument, finding: Finding) -> lsp.Diagnostic:
    elsewhere = finding.span is not None and finding.span.file != document.path
    place = f"{finding.span.file}:{finding.span.line}: " if finding.span is not None and elsewhere else ""
    lines = f"{place}{whole_message(finding)}".split("\n")
    return lsp.Diagnostic(
        _range(document.range_of(finding.span)),
        "\n".join(map(escape, lines)),
        _SEVERITIES[finding.severity],
        finding.code,
        source=SOURCE,
    )


def _range(positions: tuple[Position, Position]) -> lsp.Range:
    return lsp.Range(*(lsp.Position(*position) for position in positions))


def _actions(document: OpenDocument, uri: str, selection: lsp.Range) -> Iterator[lsp.CodeAction]:
    """Yield the edits of findings in a range."""
    for finding in document.findings:
        extent = _range(document.range_of(finding.span))
        if finding.edit is None or finding.edit.span.file != document.path:
            continue
        if extent.end.line < selection.start.line or extent.start.line > selection.end.line:
            continue
        change = lsp.TextEdit(_range(document.range_of(finding.edit.span)), finding.edit.text)
        yield lsp.CodeAction(
            f"{finding.code}: {escape(finding.help)}",
            lsp.CodeActionKind.QuickFix,
            diagnostics=[_diagnostic(document, finding)],
            edit=lsp.WorkspaceEdit({uri: [change]}),
        )


def _hover(document: OpenDocument, position: Position) -> str:
    """Return the page of a finding, else the meaning of a key, as Markdown."""
    findings = document.findings_at(position)
    if not findings:
        return meaning(document.text, position[0], document.column(position), dialect_of(document))
    return "\n\n".join(f"```text\n{page_text(code)}\n```" for code in dict.fromkeys(finding.code for finding in findings))


def dialect_of(document: OpenDocument) -> str:
    """Return the dialect of a document; native if it cannot be read."""
    return next((report.dialect for report in document.reports if report.dialect in DIALECTS), "native")


def make_server(version: str) -> PlacementServer:
    """Return the server with its features; `start_io` runs it."""
    server = PlacementServer(version)

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def open_document(params: lsp.DidOpenTextDocumentParams) -> None:
        server.check(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def change_document(params: lsp.DidChangeTextDocumentParams) -> None:
        server.check(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def save_document(params: lsp.DidSaveTextDocumentParams) -> None:
        server.open.clear()  # files that others are composed of may have changed
        server.check(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def close_document(params: lsp.DidCloseTextDocumentParams) -> None:
        server.open.pop(params.text_document.uri, None)
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(params.text_document.uri, []))

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]))
    def fixes(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        return list(_actions(server.document(params.text_document.uri), params.text_document.uri, params.range))

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        words = _hover(server.document(params.text_document.uri), (params.position.line, params.position.character))
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, words)) if words else None

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions([" ", "{", ","]))
    def complete(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        document = server.document(params.text_document.uri)
        column = document.column((params.position.line, params.position.character))
        kinds = {True: lsp.CompletionItemKind.Property, False: lsp.CompletionItemKind.Value}
        return [
            lsp.CompletionItem(
                item.word, kind=kinds[item.is_key], documentation=item.meaning, insert_text=f"{item.word}: " if item.is_key else None
            )
            for item in suggestions(document.text, params.position.line, column, dialect_of(document))
        ]

    return server
