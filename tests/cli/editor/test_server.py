"""The language server with a real client: findings as one types, fixes that verify, explanations, completion."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any, Awaitable, Callable

import placewright as pw
import pytest
from placewright.cli.editor.document import OpenDocument

lsp = pytest.importorskip("lsprotocol.types", reason="needs the extra `lsp`")
from pygls.lsp.client import LanguageClient  # noqa: E402

TEXT = "cluster: 2x8xH100\ncomponents:\n  actor: {placement: 0-7}\n  rollout: {placement: 8-17}\n"


class Editor:
    """Client that remembers the last diagnostics of a document."""

    def __init__(self, path: Path) -> None:
        self.client = LanguageClient("test", "1")
        self.uri, self.version = path.as_uri(), 0
        self.published: asyncio.Queue[Any] = asyncio.Queue()
        self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self.published.put_nowait(params))

    async def start(self, folder: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(Path(pw.__file__).parents[1])}
        await self.client.start_io(sys.executable, "-m", "placewright", "server", env=environment, cwd=str(folder))
        await self.client.initialize_async(lsp.InitializeParams(lsp.ClientCapabilities(), root_uri=folder.as_uri()))
        self.client.initialized(lsp.InitializedParams())

    async def open(self, text: str) -> list[Any]:
        item = lsp.TextDocumentItem(self.uri, lsp.LanguageKind.Yaml, 0, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return list((await self.published.get()).diagnostics)

    async def type(self, text: str) -> list[Any]:
        self.version += 1
        document = lsp.VersionedTextDocumentIdentifier(self.version, self.uri)
        change = lsp.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))
        return list((await self.published.get()).diagnostics)

    @property
    def document(self) -> Any:
        return lsp.TextDocumentIdentifier(self.uri)


def with_editor(folder: Path, use: Callable[[Editor], Awaitable[None]], name: str = "job.yaml") -> None:
    async def session() -> None:
        editor = Editor(folder / name)
        await editor.start(folder)
        try:
            await use(editor)
        finally:
            await editor.client.shutdown_async(None)
            editor.client.exit(None)
            await editor.client.stop()

    asyncio.run(asyncio.wait_for(session(), 60))


def test_findings_appear_as_one_types_and_a_fix_verifies(tmp_path: Path) -> None:
    async def use(editor: Editor) -> None:
        (found,) = await editor.open(TEXT)
        assert (found.code, found.severity.name, found.range.start.line, found.range.start.character) == ("PW102", "Error", 3, 23)
        assert found.message.endswith("help: write `8-15`")
        actions = await editor.client.text_document_code_action_async(
            lsp.CodeActionParams(editor.document, found.range, lsp.CodeActionContext([found]))
        )
        assert [action.title for action in actions] == ["PW102: write `8-15`"]
        (edit,) = actions[0].edit.changes[editor.uri]
        lines = TEXT.split("\n")
        row, begin, end = edit.range.start.line, edit.range.start.character, edit.range.end.character
        lines[row] = lines[row][:begin] + edit.new_text + lines[row][end:]
        assert await editor.type("\n".join(lines)) == []

    with_editor(tmp_path, use)


def test_hover_explains_and_completion_offers(tmp_path: Path) -> None:
    async def use(editor: Editor) -> None:
        await editor.open(TEXT)
        of_finding = await editor.client.text_document_hover_async(lsp.HoverParams(editor.document, lsp.Position(3, 24)))
        assert of_finding.contents.value.startswith("```text\nPW102")
        of_key = await editor.client.text_document_hover_async(lsp.HoverParams(editor.document, lsp.Position(2, 12)))
        assert of_key.contents.value.startswith("where it is: resource ranks and process ranks")
        await editor.type(TEXT.replace("{placement: 8-17}", "{colocate_with: }"))
        of_value = await editor.client.text_document_completion_async(lsp.CompletionParams(editor.document, lsp.Position(3, 27)))
        assert [item.label for item in of_value] == ["actor", "rollout"]
        of_keys = await editor.client.text_document_completion_async(lsp.CompletionParams(editor.document, lsp.Position(2, 10)))
        assert {"accelerators", "placement"} <= {item.label for item in of_keys}

    with_editor(tmp_path, use)


def test_a_document_that_was_never_opened_has_nothing(tmp_path: Path) -> None:
    async def use(editor: Editor) -> None:
        start = lsp.Position(0, 0)
        assert await editor.client.text_document_hover_async(lsp.HoverParams(editor.document, start)) is None
        assert not await editor.client.text_document_code_action_async(
            lsp.CodeActionParams(editor.document, lsp.Range(start, start), lsp.CodeActionContext([]))
        )

    with_editor(tmp_path, use)


def test_settings_of_the_project_name_the_machines(tmp_path: Path) -> None:
    async def use(editor: Editor) -> None:
        text = "cluster:\n  num_nodes: 1\n  component_placement:\n    actor,rollout: 0-15\n"
        assert [found.code for found in await editor.open(text)] == ["PW102"]

    (tmp_path / "placewright.toml").write_text('cluster = "1x8"\nlevel = "placement"\n')
    with_editor(tmp_path, use)


def test_settings_of_a_path_and_ignored_codes_hold_in_the_editor(tmp_path: Path) -> None:
    text = "components:\n  actor: {placement: 0-5}\n"
    (tmp_path / "placewright.toml").write_text(
        'cluster = "1x4"\n[per-path]\n"big/**" = {cluster = "1x8", ignore = ["PW8"]}\n"more/**" = {cluster = "1x8"}\n'
    )
    codes = {
        folder: [finding.code for finding in OpenDocument(str(tmp_path / folder / "job.yaml"), text).findings]
        for folder in (".", "big", "more")
    }
    assert codes == {".": ["PW102"], "big": [], "more": ["PW801"]}


def test_unusable_settings_and_foreign_files_are_no_traceback(tmp_path: Path) -> None:
    async def use(editor: Editor) -> None:
        assert await editor.open("services:\n  web:\n    image: nginx\n") == []
        (tmp_path / "placewright.toml").write_text('cluster = "many"\n')
        (found,) = await editor.type(TEXT)
        assert "settings of placewright" in found.message
        (tmp_path / "placewright.toml").unlink()
        assert [finding.code for finding in await editor.type(TEXT + "\t: {\n")] == ["PW003"]

    with_editor(tmp_path, use)


def test_columns_are_utf_16_units() -> None:
    document = OpenDocument("job.yaml", "cluster: 2x8xH100\ncomponents:\n  '\U0001f600\u00e9': {placement: 0-17}\n")
    (finding,) = document.findings
    assert document.range_of(finding.span) == ((2, 21), (2, 25))
    assert document.findings_at((2, 22)) == [finding]
    assert document.findings_at((2, 2)) == []
