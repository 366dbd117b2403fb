import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { lintWorkspace } from '../../src/documents/lint/lint.ts'
import { quiet } from './quiet.ts'
import { loadFiles, loadWorkspace } from '../../src/documents/workspace/load.ts'
import { checkPath, foldPath, pathsUnder } from '../../src/documents/text/paths.ts'
import { complete } from './complete.ts'
import { removeDirectory } from '../remove-directory.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-documents-'))
})
afterEach(() => removeDirectory(root))

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(complete(files))) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}
const tool = (name: string): string => `kind: Tool\nmetadata: {name: ${name}, namespace: pay, version: "1.0.0"}\n`

describe('a directory', () => {
  test('gives its documents in order, and passes over what is not ours', async () => {
    write({
      'tools/b.yml': tool('b'),
      'tools/a.yaml': tool('a'),
      'c.json':
        '{"apiVersion": "svc/v1", "kind": "Bundle", "metadata": {"name": "c", "namespace": "pay", "version": "1.0.0"}, "spec": {"root": "x.yaml"}}',
      'deploy.yaml': 'apiVersion: apps/v1\nkind: Deployment\n',
      'package.json': '{"name": "x"}',
      'notes.md': 'apiVersion: svc/v1\nkind: Tool\n',
    })
    const { documents, findings, read } = await loadWorkspace(root)
    expect(documents.map(({ path, kind }) => `${path} ${kind}`)).toEqual([
      'c.json Bundle',
      'tools/a.yaml Tool',
      'tools/b.yml Tool',
    ])
    expect(findings).toEqual([])
    expect(read).toEqual(['c.json', 'tools/a.yaml', 'tools/b.yml'])
  })

  test('leaves out node_modules, dot directories, data directories of any name and what .svcignore names', async () => {
    write({
      'node_modules/x/t.yaml': tool('a'),
      '.svc/t.yaml': tool('b'),
      'state/data.db': '',
      'state/lock.db': '',
      'state/objects/credentials.json': '{}',
      'state/objects/t.yaml': tool('g'),
      'old/t.yaml': tool('c'),
      'deep/er/draft.yaml': tool('d'),
      'kept/draft-not.yaml': tool('e'),
      'new/t.yaml': tool('f'),
      '.svcignore': '# drafts\n/old/\ndraft.yaml\nnew/*\n!new/t.yaml\n',
    })
    expect((await loadWorkspace(root)).documents.map(({ path }) => path)).toEqual(['kept/draft-not.yaml', 'new/t.yaml'])
  })

  test('does not follow symbolic links, and reports those in a bundle', async () => {
    write({
      'bundle/bundle.yaml': 'kind: Bundle\n',
      'bundle/agent.yaml': 'kind: Agent\nspec:\n  instructions: {ref: prompts/system.md}\n',
      'shared/system.md': 'Help.\n',
      'shared/t.yaml': tool('a'),
    })
    symlinkSync(join(root, 'shared'), join(root, 'bundle/prompts'))
    symlinkSync(join(root, 'shared/t.yaml'), join(root, 'bundle/t.yaml'))
    const workspace = await loadWorkspace(join(root, 'bundle'))
    expect(workspace.documents.map(({ path }) => path)).toEqual(['agent.yaml', 'bundle.yaml'])
    expect(
      lintWorkspace(workspace, { rules: quiet }).map(({ rule, path, message }) => `${path} ${rule} ${message}`),
    ).toEqual([
      'agent.yaml bundle/symlink "prompts" is a symbolic link.',
      'bundle.yaml bundle/symlink "prompts" in this bundle is a symbolic link.',
      'bundle.yaml bundle/symlink "t.yaml" in this bundle is a symbolic link.',
    ])
  })

  test('reads regular files only: a pipe is not waited for', async () => {
    write({ 't.yaml': tool('a') })
    execFileSync('mkfifo', [join(root, 'pipe.yaml')])
    expect((await loadWorkspace(root)).documents.map(({ path }) => path)).toEqual(['t.yaml'])
  })

  // Who may read everything meets no such file.
  test.skipIf(process.getuid?.() === 0)('tells of a file that may not be read', async () => {
    write({ 't.yaml': tool('a'), 'u.yaml': tool('b'), 'closed/v.yaml': tool('c') })
    chmodSync(join(root, 'u.yaml'), 0)
    chmodSync(join(root, 'closed'), 0)
    const { documents, findings } = await loadWorkspace(root)
    chmodSync(join(root, 'closed'), 0o700)
    expect(documents.map(({ path }) => path)).toEqual(['t.yaml'])
    expect(findings.map(({ path, message }) => `${path}: ${message}`)).toEqual([
      'u.yaml: The file cannot be read: permission denied.',
    ])
  })

  test('does without a file that is removed meanwhile', async () => {
    write({ 'agent.yaml': 'kind: Agent\nspec:\n  instructions: {ref: system.md}\n', 'system.md': 'one' })
    const workspace = await loadWorkspace(root)
    rmSync(join(root, 'system.md'))
    expect(workspace.files.read('system.md')).toBeUndefined()
    expect(workspace.files.size('system.md')).toBe(0)
  })

  test.each([
    ['one in lines', 'kind: Tool\napiVersion: svc/v1\n', ['doc/too-large']],
    ['one in brackets', '{"kind":"Tool","apiVersion":"svc/v1","spec":"', ['doc/too-large']],
    ['one of somebody else', '{"kind":"Tool","apiVersion":"v1","spec":"', []],
  ])('tells of a document that is too large to be read: %s', (_, begins, rules) => {
    const files = { 'large.json': begins + 'x'.repeat(1024 * 1024) }
    expect(loadFiles(files).findings.map(({ rule }) => rule)).toEqual(rules)
  })

  test('reads a file once: later changes are not seen', async () => {
    write({ 'agent.yaml': 'kind: Agent\nspec:\n  instructions: {ref: system.md}\n', 'system.md': 'one' })
    const workspace = await loadWorkspace(root)
    expect(workspace.text('system.md')).toBe('one')
    writeFileSync(join(root, 'system.md'), 'two')
    expect(workspace.text('system.md')).toBe('one')
  })

  test('takes the text of an editor in place of the file', async () => {
    write({ 't.yaml': tool('a') })
    const workspace = await loadWorkspace(root, {
      overlay: complete({ 't.yaml': tool('edited'), 'new.yaml': tool('new') }),
    })
    expect(workspace.documents.map(({ path, identity }) => `${path} ${identity?.id}`)).toEqual([
      'new.yaml pay.new',
      't.yaml pay.edited',
    ])
  })

  test('may be narrowed by globs', async () => {
    write({
      'agents/a.yaml': 'kind: Agent\n',
      'agents/deep/b.yaml': 'kind: Agent\n',
      'scratch/c.yaml': 'kind: Agent\n',
      'd.yaml': 'kind: Agent\n',
    })
    const { documents } = await loadWorkspace(root, { include: ['agents/**/*.{yaml,yml}', '?.yaml'] })
    expect(documents.map(({ path }) => path)).toEqual(['agents/a.yaml', 'agents/deep/b.yaml', 'd.yaml'])
  })
})

describe('focus', () => {
  const files = complete({
    'agent.yaml': 'kind: Agent\nspec:\n  tools: [{ref: pay.refund@^1}]\n',
    'tools/refund.yaml': 'kind: Tool\nmetadata: {name: refund, namespace: pay, version: v1}\n',
    'other.txt': 'kind: Agent\n',
  })

  test('keeps the findings of what was named, and still sees the rest', () => {
    const found = (focus: string[]) =>
      lintWorkspace(loadFiles(files, { focus }), { rules: quiet }).map(({ path, rule }) => `${path} ${rule}`)
    expect(found(['tools'])).toEqual(['tools/refund.yaml id/invalid-semver'])
    expect(found(['./agent.yaml'])).toEqual(['agent.yaml limits/missing-loop', 'agent.yaml tool/unresolved'])
    expect(found(['.'])).toEqual(['agent.yaml limits/missing-loop', 'tools/refund.yaml id/invalid-semver'])
  })

  test('holds a file that was named to be a document, whatever its name', () => {
    expect(
      lintWorkspace(loadFiles(files, { focus: ['other.txt'] }), { rules: quiet }).map(
        ({ path, rule }) => `${path} ${rule}`,
      ),
    ).toEqual(['other.txt doc/api-version', 'other.txt doc/schema'])
  })
})

describe('a reference', () => {
  const files = {
    'b/bundle.yaml': 'kind: Bundle\n',
    'b/agent.yaml': 'kind: Agent\n',
    'b/sub/child.yaml': 'kind: Agent\nmetadata: {name: child, namespace: acme, version: "1.0.0"}\n',
    'b/sub/local.md': 'l',
    'b/prompts/system.md': 's',
    'b/prompts/twice.md': '1',
    'b/prompts/twice.txt': '2',
    'b/prompts/v-2.md': 'two',
    'b/prompts/w/3.md': 'three',
    'outside.md': 'o',
  }
  const workspace = loadFiles(complete(files))
  const child = workspace.documents.find(({ path }) => path === 'b/sub/child.yaml')!

  test.each<[string, string, string | number | undefined, object]>([
    ['starts at the bundle', 'prompts/system.md', undefined, { path: 'b/prompts/system.md' }],
    ['may begin with ./', './prompts/system.md', undefined, { path: 'b/prompts/system.md' }],
    ['may leave out its extension', 'prompts/system', undefined, { path: 'b/prompts/system.md' }],
    ["is tried from the document's own directory then", 'local.md', undefined, { path: 'b/sub/local.md' }],
    ['may name a revision', 'prompts/v.md', 2, { path: 'b/prompts/v-2.md' }],
    ['may name a revision in a directory', 'prompts/w', '3', { path: 'b/prompts/w/3.md' }],
    [
      'must be clear',
      'prompts/twice',
      undefined,
      { problem: 'ambiguous', candidates: ['b/prompts/twice.md', 'b/prompts/twice.txt'] },
    ],
    [
      'that leads nowhere names its neighbour',
      'prompts/sytem.md',
      undefined,
      { problem: 'missing', near: 'prompts/system.md' },
    ],
    [
      'does not leave the bundle',
      '../outside.md',
      undefined,
      { problem: 'bad-path', says: 'it leaves its directory with `..`' },
    ],
    ['is not absolute', '/etc/passwd', undefined, { problem: 'bad-path', says: 'it is absolute' }],
  ])('%s', (_, written, version, expected) => {
    expect(workspace.resolve(child, written, version)).toEqual(expected)
  })

  test('belongs to the nearest bundle above', () => {
    expect(workspace.bundleDirectory(child)).toBe('b')
  })

  test('to what is not there fails', () => {
    expect(() => workspace.bytes('nothing.md')).toThrow('No such file nothing.md.')
  })
})

describe('a path', () => {
  test.each([
    '',
    '.',
    '..',
    '../a',
    'a/../b',
    '/a',
    '//host/share',
    'a\\b',
    'C:/a',
    'c:a',
    'a\0b',
    'a//b',
    'a/./b',
    'a/',
    'a./b',
    'a /b',
    'cafe\u0301',
  ])('%j is refused', (path) => {
    expect(checkPath(path)).toHaveProperty('problem')
  })

  test.each([
    ['a/b.yaml', 'a/b.yaml'],
    ['././a', 'a'],
    ['..a', '..a'],
    ['caf\u00E9.md', 'caf\u00E9.md'],
  ])('%j is %j', (path, expected) => {
    expect(checkPath(path)).toEqual({ path: expected })
  })

  test('that is accepted never leads out of its directory', () => {
    const part = fc.constantFrom('a', '..', '.', '/', '\\', ' ', 'C:', '\0', 'b.md', '...')
    const stays = fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const checked = checkPath(parts.join(''))
      return 'problem' in checked || join('/root/bundle', checked.path).startsWith('/root/bundle/')
    })
    expect(() => fc.assert(stays)).not.toThrow()
  })
})

test.each([
  ['', ['a', 'a/b.md', 'a/c/d.md', 'a0', 'b/a/x']],
  ['a', ['a/b.md', 'a/c/d.md']],
  ['a/c', ['a/c/d.md']],
  ['b/a', ['b/a/x']],
  ['c', []],
])('the paths under %j stand side by side', (directory, under) => {
  expect(pathsUnder(['a', 'a/b.md', 'a/c/d.md', 'a0', 'b/a/x'], directory)).toEqual(under)
})

test.each([
  ['STRASSE.md', 'straße.md', true],
  ['ΟΔΟΣ.md', 'οδος.md', true],
  ['a\u0308.md', 'Ä.md', true],
  ['ﬁle.md', 'FILE.md', true],
  ['\u212A.md', 'k.md', true],
  ['ı.md', 'i.md', false],
  ['日本.md', '日木.md', false],
])('where case does not count %s and %s are one file: %s', (one, other, same) => {
  expect(foldPath(one) === foldPath(other)).toBe(same)
})
