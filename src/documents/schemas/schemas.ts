/** JSON Schemas that documents reference or contain. Source: docs/design/authoring-format.md#schema-spec */
import { isJsonObject, type JsonObject } from '../../base/json/json.ts'
import type { FindingPlace } from '../text/diagnostic.ts'
import { createSpans, type Document, type FoundValue, type DocumentSpans } from '../text/document.ts'
import { memoizePerObject, memoizePerWorkspace } from '../workspace/memoize.ts'
import { decodeUtf8 } from '../text/decode.ts'
import { keywordsIn, SCHEMA_KEYWORDS, type KeywordUse } from './schema-keywords.ts'
import { readYaml } from '../text/yaml.ts'
import type { PathResolution } from '../workspace/resolve-path.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** Where documents of a kind have a schema spec. */
const PLACES: Readonly<Record<Document['kind'], readonly string[]>> = {
  Agent: ['output.schema', 'spec.tools.*.input_schema', 'spec.agents.*.input_schema'],
  Tool: ['spec.input_schema', 'spec.output_schema'],
  Policy: [],
  Bundle: [],
}

/** The annotation that names the schema of a start's input. Source: docs/design/http.md#start */
export const INPUT_SCHEMA = 'svc/input-schema'

export interface SchemaUse {
  /** The schema spec. */
  readonly at: FoundValue
  /** Set for a reference. */
  readonly ref?: { readonly written: string; readonly resolution: PathResolution }
  /** The schema with its places; absent if the referenced file is missing or unreadable. */
  readonly schema?: SchemaText
  /** Why the file that was found cannot be read. */
  readonly unreadable?: string
}

export interface SchemaText {
  readonly spans: DocumentSpans
  /** Pointer of the schema in its text: empty for a file of its own. */
  readonly base: string
  readonly value: JsonObject | boolean
  /** Place of the value at a pointer into the schema or, where it is absent, of the nearest one around it. */
  placeOf(pointer: string): FindingPlace
  /** Place of the key of the value at a pointer into the schema; as `placeOf` where it has none. */
  keyPlaceOf(pointer: string): FindingPlace
  /** The places of a keyword, at any depth. */
  uses(keyword: string): readonly KeywordUse[]
  /** The places of keywords that JSON Schema does not have, the outermost ones. */
  unknownUses(): readonly (readonly [keyword: string, use: KeywordUse])[]
}

class WrittenSchema implements SchemaText {
  readonly spans: DocumentSpans
  readonly base: string
  readonly value: JsonObject | boolean
  // Cached: many rules read each schema.
  #keywords: ReturnType<typeof keywordsIn> | undefined

  constructor(spans: DocumentSpans, base: string, value: JsonObject | boolean) {
    this.spans = spans
    this.base = base
    this.value = value
  }

  placeOf(pointer: string): FindingPlace {
    return this.spans.placeOf(this.base + pointer)
  }

  keyPlaceOf(pointer: string): FindingPlace {
    const place = this.placeOf(pointer)
    return { ...place, range: this.spans.keySpanOf(this.base + pointer) ?? place.range }
  }

  uses(keyword: string): readonly KeywordUse[] {
    return this.#all().get(keyword) ?? NOWHERE
  }

  unknownUses(): readonly (readonly [keyword: string, use: KeywordUse])[] {
    return [...this.#all()].flatMap(([keyword, uses]) => {
      if (SCHEMA_KEYWORDS.has(keyword)) return []
      // Behind an alias there is the same schema once more.
      const once = new Map(
        uses
          .filter(({ isApplied }) => isApplied)
          .map((use) => [use.holder, use] as const)
          .reverse(),
      )
      return [...once.values()].reverse().map((use) => [keyword, use] as const)
    })
  }

  #all(): ReturnType<typeof keywordsIn> {
    return (this.#keywords ??= keywordsIn(this.value))
  }
}

const NOWHERE: readonly KeywordUse[] = []

/** Every schema of a document. */
export const schemasOf = memoizePerObject((workspace, document: Document): readonly SchemaUse[] => {
  const uses: SchemaUse[] = []
  for (const place of PLACES[document.kind])
    for (const found of document.at(place)) {
      const use = schemaAt(workspace, document, found)
      if (use !== undefined) uses.push(use)
    }
  if (document.kind !== 'Agent') return uses
  const contract = document.texts('metadata.annotations.*').find(({ key }) => key === INPUT_SCHEMA)
  if (contract !== undefined) uses.push(named(workspace, document, contract, contract.value))
  return uses
})

/** The schema of a schema spec; undefined for any other value. Reads each file once. */
export function schemaAt(workspace: Workspace, document: Document, found: FoundValue): SchemaUse | undefined {
  const known = specs(workspace)
  const before = known.get(found)
  if (before !== undefined || known.has(found)) return before
  const use = readSpec(workspace, document, found)
  known.set(found, use)
  return use
}

const specs = memoizePerWorkspace(() => new Map<FoundValue, SchemaUse | undefined>())

function readSpec(workspace: Workspace, document: Document, found: FoundValue): SchemaUse | undefined {
  if (!isJsonObject(found.value)) return undefined
  const { ref, inline, version } = found.value
  if (isJsonObject(inline)) return { at: found, schema: new WrittenSchema(document, `${found.pointer}/inline`, inline) }
  if (typeof ref !== 'string') return undefined
  const at = document.at(`${dotted(found.pointer)}.ref`)[0] ?? found
  return named(
    workspace,
    document,
    at,
    ref,
    typeof version === 'string' || typeof version === 'number' ? version : undefined,
  )
}

const dotted = (pointer: string): string => pointer.slice(1).replaceAll('/', '.')

function named(
  workspace: Workspace,
  document: Document,
  at: FoundValue,
  written: string,
  version?: string | number,
): SchemaUse {
  const resolution = workspace.resolve(document, written, version)
  const ref = { written, resolution }
  if (!('path' in resolution)) return { at, ref }
  const file = decodeUtf8({ path: resolution.path, bytes: workspace.bytes(resolution.path) })
  const reading = file.source && readYaml(file.source)
  const fault = [...file.findings, ...(reading?.findings ?? [])].find(({ severity }) => severity === 'error')
  if (fault !== undefined) return { at, ref, unreadable: fault.message }
  const root = reading?.roots[0]
  if (!file.source || root === undefined || !(isJsonObject(root.value) || typeof root.value === 'boolean'))
    return { at, ref, unreadable: 'A schema is a mapping.' }
  return { at, ref, schema: new WrittenSchema(createSpans(file.source, root), '', root.value) }
}
