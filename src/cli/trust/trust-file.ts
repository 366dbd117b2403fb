/** Trust documents in files: `trust.yaml` as it is written, and its envelope, as roots sign it. */
import { fail, type Failure } from '../../base/failure.ts'
import { isJsonObject, type JsonObject } from '../../base/json/json.ts'
import { decodeUtf8 } from '../../documents/text/decode.ts'
import { createSpans, type DocumentSpans } from '../../documents/text/document.ts'
import { readYaml } from '../../documents/text/yaml.ts'
import type { Instant } from '../../base/clock.ts'
import { ShapeFault } from '../../spec/trust/read-shape.ts'
import { readTrustDocument, type TrustDocument } from '../../spec/trust/trust-document.ts'
import { TrustProblem } from '../../spec/trust/trust-problem.ts'
import { openTrust } from '../../spec/trust/verify-trust.ts'
import { readUserFile } from '../files/read-file.ts'

export interface TrustFile {
  readonly document: TrustDocument
  readonly value: JsonObject
  readonly spans: DocumentSpans
}

/** @param path absolute @param named as the user typed it @throws Failure `trust_unreadable`, `file_missing` */
export async function readTrustFile(path: string, named: string): Promise<TrustFile> {
  const { source, findings } = decodeUtf8({ path: named, bytes: await readUserFile(path, named) })
  const reading = source && readYaml(source)
  const [root] = reading?.roots ?? []
  const [finding] = [...findings, ...(reading?.findings ?? [])]
  if (!source || !root || finding || !isJsonObject(root.value))
    throw unreadable(named, finding?.range.start.line ?? 1, finding?.message ?? 'It holds no document.')
  const spans = createSpans(source, root)
  try {
    return { document: readTrustDocument(root.value), value: root.value, spans }
  } catch (error) {
    if (!(error instanceof ShapeFault)) throw error
    const { range } = spans.placeOf(error.pointer)
    throw unreadable(named, range.start.line, `${error.pointer || 'The document'} ${error.message}.`)
  }
}

const unreadable = (file: string, line: number, why: string): Failure => fail('trust_unreadable', { file, line, why })

/** Whom to trust: `trust.yaml`, which counts since somebody chose it, or an envelope, whose roots must have signed it. */
export async function readTrustedDocument(path: string, named: string, at: Instant): Promise<TrustDocument> {
  if (!path.endsWith('.json')) return (await readTrustFile(path, named)).document
  try {
    return openTrust((await readUserFile(path, named)).toString(), undefined, at)
  } catch (error) {
    if (error instanceof TrustProblem) throw unreadable(named, 1, `${error.step}: ${error.message}.`)
    throw error
  }
}
