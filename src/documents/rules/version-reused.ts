import { canonical, isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { Document } from '../document.ts'
import { replacement } from '../diagnostic.ts'
import type { Rule } from '../rule.ts'
import { schemaAt } from '../schemas.ts'
import type { Workspace } from '../workspace.ts'
import { inc } from 'semver'

export const versionReused: Rule = {
  name: 'id/version-reused',
  severity: 'error',
  law: 'A version that was published keeps its content.',
  fix: 'Raise `metadata.version`.',
  source: 'Bundles, section 4: a published version is immutable',
  bad: {
    'tool.yaml':
      'kind: Tool\nmetadata: {name: published, namespace: pay, version: "1.2.0"}\nspec: {description: Pays an amount back and tells the customer.}\n',
  },
  good: {
    'tool.yaml':
      'kind: Tool\nmetadata: {name: published, namespace: pay, version: "1.2.1"}\nspec: {description: Pays an amount back and tells the customer.}\n',
  },
  crossFile: true,
  check(document, report, { workspace, published }) {
    const { kind, identity, sound } = document
    if ((kind !== 'Tool' && kind !== 'Policy') || identity === undefined || !sound) return
    const before = published.document?.(kind, identity.id, identity.version)
    if (before === undefined) return
    const now = frozen(workspace, document)
    if (now === undefined || canonical(now) === canonical(before)) return
    const next = inc(identity.version, 'patch')
    const place = document.placeOf('/metadata/version')
    report(place, `${identity.id}@${identity.version} was published with another content.`, {
      why: 'Publishing it again will be refused.',
      ...(next !== null && { fix: { ...replacement(place, next), unsafe: true } }),
    })
  },
}

/** The document as publishing keeps it: schemas by value. Undefined where that cannot be told from here. */
function frozen(workspace: Workspace, document: Document): JsonValue | undefined {
  const spec = document.value['spec']
  if (!isJsonObject(spec)) return undefined
  const inlined: JsonObject = { ...spec }
  for (const field of ['input_schema', 'output_schema']) {
    const [found] = document.at(`spec.${field}`)
    if (found === undefined) continue
    const schema = schemaAt(workspace, document, found)?.schema
    // References between schema files are followed by the compiler.
    if (schema === undefined || /"\$ref":"[^#]/.test(JSON.stringify(schema.value))) return undefined
    inlined[field] = { inline: schema.value }
  }
  return { ...document.value, spec: inlined }
}
