import { pathsUnder } from '../paths.ts'
import { pathsIn } from '../path-refs.ts'
import type { Rule } from '../rule.ts'

export const unreferencedFile: Rule = {
  name: 'bundle/unreferenced-file',
  severity: 'info',
  law: 'A prompt or a schema of a bundle is named by one of its documents.',
  fix: 'Name it, remove it, or list it in `.svcignore`.',
  source: 'Bundles, section 1: everything reached from the root is its closure',
  bad: { 'bundle.yaml': 'kind: Bundle\n', 'agent.yaml': 'kind: Agent\n', 'schemas/old.json': '{"type": "object"}' },
  good: {
    'bundle.yaml': 'kind: Bundle\n',
    'agent.yaml': 'kind: Agent\noutput: {format: json, strict: true, schema: {ref: schemas/new.json}}\n',
    'schemas/new.json': '{"type": "object"}',
  },
  crossFile: true,
  kinds: ['Bundle'],
  check(document, report, { workspace }) {
    const directory = workspace.bundleDirectory(document)
    const files = pathsUnder(workspace.files.paths, directory).filter(
      // What lies in a bundle inside this one is that one's own.
      (path) =>
        OURS.test(path) && workspace.bundleOf({ path }) === directory && workspace.documentsAt(path).length === 0,
    )
    if (files.length === 0) return
    const named = [
      ...workspace
        .neighbours(document)
        .flatMap(pathsIn)
        .map(({ value }) => value),
      ...pathsUnder(workspace.files.paths, directory)
        .filter((path) => /(?:^|\/)schemas\/[^/]+\.json$/.test(path))
        .map((path) => refsOf(workspace.text(path))),
    ]
    for (const path of files) {
      // Schema files name each other, and a version may be part of a name: what is mentioned counts as used.
      const stem = /([^/]+?)(?:-[^/]*)?\.[^./]+$/.exec(path)?.[1] ?? path
      if (!named.some((text) => text.includes(stem))) report('/spec/root', `Nothing in this bundle names ${path}.`)
    }
  },
}

/** Directories whose files are there to be named. */
const OURS = /(?:^|\/)(?:prompts|instructions|schemas)\/[^/]+$/

const refsOf = (text: string): string => [...text.matchAll(/"\$ref"\s*:\s*"([^"#]+)/g)].map(([, ref]) => ref).join(' ')
