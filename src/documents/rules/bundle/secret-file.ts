import { parseIgnore } from '../../text/ignore.ts'
import { directoryOf, joinPath, pathsUnder } from '../../text/paths.ts'
import type { LintRule } from '../../facts/rule.ts'
import type { Workspace } from '../../workspace/workspace.ts'

export const bundleSecretFile: LintRule = {
  severity: 'error',
  law: 'A bundle contains no key files that `.svcignore` or `.gitignore` does not exclude.',
  fix: 'Move it out of the bundle, or list it in `.gitignore` or `.svcignore`.',
  source: 'Authoring format, "Authentication": credentials are referenced, never embedded',
  crossFile: true,
  kinds: ['Bundle'],
  check(document, report, { workspace }) {
    const directory = workspace.bundleDirectory(document)
    for (const path of pathsUnder(workspace.files.paths, directory))
      if (
        SECRET.test(nameOf(path)) &&
        !HARMLESS.test(path) &&
        !isWithoutKey(workspace, path) &&
        !isIgnored(workspace, path)
      )
        report('/spec/root', `${path} looks like a key file and is in the bundle.`, {
          fix: `Move it out of the bundle, or list it in ${joinPath(directory, '.gitignore')} or .svcignore.`,
        })
  },
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** File names, without directories. */
const SECRET = new RegExp(
  `^(?:${[
    String.raw`\.env(?:\.[^/]+)?`,
    String.raw`[^/]+\.(?:env|pem|key|p12|pfx|jks|keystore|kdbx|ppk)`,
    'id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?',
    String.raw`(?:credentials|client_secret[^/]*|service[-_]account[^/]*|[^/]*firebase-adminsdk[^/]*)\.json`,
    String.raw`\.(?:npmrc|pypirc|netrc|pgpass|git-credentials|htpasswd|dockercfg|s3cfg|vault-token|my\.cnf)`,
    '_netrc',
  ].join('|')})$`,
  'i',
)
const HARMLESS = /\.pub$|\.(?:example|sample|template|dist|defaults?)$|(?:^|\/)(?:example|sample|template)\.env$/i

/** Many projects have an `.npmrc`; few contain a token. */
const isWithoutKey = (workspace: Workspace, path: string): boolean =>
  path.endsWith('.npmrc') && !/_(?:auth|authToken|password)\s*=\s*[^\s$]/.test(workspace.text(path))

/** True for a file that a `.gitignore` in its directory or in one above excludes. */
function isIgnored(workspace: Workspace, path: string): boolean {
  for (let directory = directoryOf(path); ; directory = directoryOf(directory)) {
    const list = joinPath(directory, '.gitignore')
    const inside = directory === '' ? path : path.slice(directory.length + 1)
    if (workspace.files.paths.includes(list) && parseIgnore(workspace.text(list)).matches(inside)) return true
    if (directory === '') return false
  }
}
