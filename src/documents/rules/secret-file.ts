import { pathsUnder } from '../paths.ts'
import type { Rule } from '../rule.ts'

export const secretFile: Rule = {
  name: 'bundle/secret-file',
  severity: 'error',
  law: 'No file of keys lies in a bundle.',
  fix: 'Move it out of the bundle, or list it in `.svcignore`.',
  source: 'Authoring format, "Authentication": credentials are referenced, never embedded; security, S5',
  bad: { 'bundle.yaml': 'kind: Bundle\n', 'agent.yaml': 'kind: Agent\n', 'keys/server.pem': 'x\n' },
  good: { 'bundle.yaml': 'kind: Bundle\n', 'agent.yaml': 'kind: Agent\n' },
  crossFile: true,
  kinds: ['Bundle'],
  check(document, report, { workspace }) {
    const directory = workspace.bundleDirectory(document)
    for (const path of pathsUnder(workspace.files.paths, directory))
      if (SECRET.test(path) && !HARMLESS.test(path))
        report('/spec/root', `${path} looks like a file of keys, and would be packed with the bundle.`)
  },
}

const SECRET =
  /(?:^|\/)(?:[^/]+\.(?:pem|key|p12|pfx|jks|keystore|kdbx)|id_(?:rsa|dsa|ecdsa|ed25519)|credentials\.json|service-account[^/]*\.json|\.npmrc|\.netrc|\.pgpass)$/i
const HARMLESS = /\.pub$|\.example$/i
