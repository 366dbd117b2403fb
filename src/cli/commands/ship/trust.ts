/** `svc trust`: the document that says whose signature counts. Source: docs/design/trust.md#the-trust-document */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { isoOrNull } from '../../../base/clock.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import { loadWorkspace } from '../../../documents/workspace/load.ts'
import type { OperatorAnswer } from '../../../operations/operations.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { splitRoles } from '../../../spec/people/approver-role.ts'
import { readEnvelope } from '../../../spec/trust/dsse.ts'
import { writeSigningKey } from '../../../spec/trust/signing-key.ts'
import { readStatement, writeTrust } from '../../../spec/trust/statement.ts'
import type { TrustDocument } from '../../../spec/trust/trust-document.ts'
import { TrustProblem } from '../../../spec/trust/trust-problem.ts'
import type { trustCheckAnswer, trustKeyAnswer, trustSignAnswer } from '../../answers/trust.ts'
import { readUserFile } from '../../files/read-file.ts'
import { writeUserFile } from '../../../base/files/write-file.ts'
import { projectRoot, TRUST_FILE } from '../../project/project.ts'
import { withOperator } from '../../project/server/operator.ts'
import type { CommandContext } from '../../shell/command.ts'
import { countNoun } from '../../shell/counted.ts'
import { printOne } from '../../shell/screen/list.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { addSignature, DEFAULT_KEY, openSigner } from '../../trust/signer.ts'
import { findTrustFindings, type AskedRole } from '../../trust/trust-findings.ts'
import { readTrustFile } from '../../trust/trust-file.ts'

/** Exit code 1 where something of it does nothing, or is expired. */
export async function trustCheck(call: CommandContext<ValueOf<typeof trustCheckAnswer>>): Promise<number> {
  const { mode, out, io } = call
  const { path, named } = fileOf(call)
  const { document, spans } = await readTrustFile(path, named)
  const asked = await askedRoles(projectRoot(call))
  const findings = findTrustFindings(document, io.clock.now(), asked).map((each) => {
    const { start } = spans.placeOf(each.pointer).range
    return { ...each, line: start.line, column: start.column }
  })
  const [errors, warnings] = (['error', 'warning'] as const).map(
    (severity) => findings.filter((each) => each.severity === severity).length,
  )
  if (mode.json) await out.json({ ok: errors === 0, ...aboutOf(document), findings })
  else {
    for (const { line, column, severity, message, rule } of findings)
      out.line(safeText(`${named}:${line}:${column} ${severity} ${message} ${rule}`))
    out.line(
      `${document.name}@${document.version}  ${countNoun(errors ?? 0, 'error')}, ${countNoun(warnings ?? 0, 'warning')}`,
    )
  }
  return errors === 0 ? 0 : 1
}

const aboutOf = ({ name, version, digest, expires }: TrustDocument) => ({
  name,
  version,
  digest,
  expires: isoOrNull(expires),
})

function fileOf({ given, cwd }: Pick<CommandContext, 'given' | 'cwd'>): {
  readonly path: string
  readonly named: string
} {
  const named = given.argument(0) ?? TRUST_FILE
  return { path: resolve(cwd, named), named }
}

/** Of the policies of the project. */
async function askedRoles(directory: string): Promise<readonly AskedRole[]> {
  const { documents } = await loadWorkspace(directory)
  return documents.flatMap((document) =>
    document.kind !== 'Policy'
      ? []
      : document
          .at('spec.decision.runtime.*')
          .filter(({ key }) => key === 'svc/approver_role')
          .flatMap(({ value }) => (typeof value === 'string' ? splitRoles(value) : []))
          .map((role) => ({ policy: document.identity?.id ?? document.path, role })),
  )
}

/** Writes the envelope beside the document; a second root adds its signature to that of the first. */
export async function trustSign(call: CommandContext<ValueOf<typeof trustSignAnswer>>): Promise<void> {
  const { given, mode, out, cwd } = call
  const { path, named } = fileOf(call)
  const { document, value } = await readTrustFile(path, named)
  const file = given.text('output') ?? envelopeOf(named)
  const target = resolve(cwd, file)
  const payload = writeTrust(value, document)
  const before = existsSync(target) ? await readOwnEnvelope(target, file) : undefined
  const others = before?.payload.equals(payload) ? before.signatures : []
  const signer = await openSigner(call, given.text('sign') ?? DEFAULT_KEY)
  const envelope = await addSignature(signer, payload, others)
  const signed = readEnvelope(envelope).signatures.map(({ keyId }) => keyId)
  const roots = document.keys.filter(({ id }) => document.roots.keys.includes(id))
  const stranger = signed.find((keyId) => roots.every(({ fingerprint }) => fingerprint !== keyId))
  if (stranger !== undefined) throw usageFailure(`${stranger} is no root of ${document.name}@${document.version}.`)
  await writeUserFile(target, envelope)
  const { threshold } = document.roots
  if (mode.json) return await out.json({ file, ...aboutOf(document), signatures: signed.length, threshold })
  out.line(
    `${safeText(file)}  ${document.name}@${document.version}  ${signed.length} of ${threshold} signatures  ${document.digest}`,
  )
  if (signed.length >= threshold) out.hint(`next:  svc trust install ${safeText(file)}`)
}

const envelopeOf = (named: string): string => `${named.replace(/\.(?:ya?ml|json)$/, '')}.dsse.json`

async function readOwnEnvelope(path: string, named: string) {
  try {
    return readEnvelope((await readUserFile(path, named)).toString())
  } catch (error) {
    if (error instanceof TrustProblem)
      throw usageFailure(`${named} is there, and is no envelope: ${error.message}.`, 'Name another file with -o.')
    throw error
  }
}

/** Puts it in force at the server. */
export async function trustInstall(call: CommandContext<OperatorAnswer<'POST /trust'>>): Promise<void> {
  const { given, mode, out, cwd } = call
  const named = given.argument(0) ?? envelopeOf(TRUST_FILE)
  const envelope = (await readUserFile(resolve(cwd, named), named)).toString()
  const message = given.text('message')
  await withOperator(call, async (operator) => {
    const body = { envelope, ...(message !== undefined && { message }) }
    const installed = await operator.call('POST /trust', { body })
    if (mode.json) return await out.json(installed)
    out.line(safeText(`installed ${installed.name}@${installed.version}  ${installed.digest}`))
  })
}

export async function trustShow(call: CommandContext<OperatorAnswer<'GET /trust'>>): Promise<void> {
  await withOperator(call, async (operator) => {
    const answer = await operator.call('GET /trust', {})
    const { installed } = answer
    if (installed === null) {
      if (call.mode.json) return await call.out.json(answer)
      return call.out.message('No trust document is installed: signatures are kept, and ask for nothing.')
    }
    const document = readStatement(readEnvelope(installed.envelope).payload, 'trust')
    await printOne(call, answer, [
      { key: 'document', value: `${installed.name}@${installed.version}` },
      { key: 'digest', value: installed.digest },
      { key: 'expires', value: installed.expires ?? 'never' },
      { key: 'installed', value: `${installed.installedAt} by ${safeText(installed.installedBy)}` },
      { key: 'required', value: requiredOf(document) },
      { key: 'roots', value: `${document.roots.threshold} of ${document.roots.keys.join(', ')}` },
      ...document.grants.map(({ who, may, in: subject, count, when }) => ({
        key: 'grant',
        value: `${who.join(', ')} may ${may.join(', ')} ${subject}${countOf(count, when)}`,
      })),
      ...document.keys.map(({ id, fingerprint, revokedAt }) => ({
        key: 'key',
        value: `${id} ${fingerprint}${revokedAt === undefined ? '' : ` revoked ${isoOrNull(revokedAt)}`}`,
      })),
    ])
  })
}

const requiredOf = ({ require }: TrustDocument): string =>
  Object.entries(require)
    .flatMap(([what, isSigned]) => (isSigned ? [`signed ${what}s`] : []))
    .join(', ') || 'nothing'

const countOf = (count: number, when: string): string =>
  count === 1 ? '' : `, ${count} people${when === 'widens' ? ' where it may do more' : ''}`

/** The line of a key for `trust.yaml`. */
export async function trustKey(call: CommandContext<ValueOf<typeof trustKeyAnswer>>): Promise<void> {
  const { given, mode, out } = call
  const key = await (await openSigner(call, given.argument(0) ?? DEFAULT_KEY)).publicKey()
  if (mode.json) return await out.json({ key: writeSigningKey(key), fingerprint: key.fingerprint })
  out.line(writeSigningKey(key))
}
