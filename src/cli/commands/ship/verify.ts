/** `svc verify`: whether those who may have signed it, and nothing was changed since. Source: docs/design/trust.md#verifying */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { safeText } from '../../../base/text/escape-text.ts'
import type { TrustDocument } from '../../../spec/trust/trust-document.ts'
import { TrustProblem } from '../../../spec/trust/trust-problem.ts'
import { openTrust } from '../../../spec/trust/verify-trust.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import type { verifySignedAnswer } from '../../answers/trust.ts'
import { readUserFile } from '../../files/read-file.ts'
import { stdinBytes } from '../../files/stdin-bytes.ts'
import { openProject, type Project } from '../../project/project.ts'
import { resolveAgent, splitVersion } from '../../project/reference.ts'
import { withOperatorOf } from '../../project/server/operator.ts'
import { isArchivePath } from '../../release/archives.ts'
import type { CommandContext } from '../../shell/command.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { readTrustedDocument } from '../../trust/trust-file.ts'
import { verifyPublished, verifySignedArchive, type VerifiedSubject } from '../../trust/verify-bundle.ts'

type VerifyCall = CommandContext<ValueOf<typeof verifySignedAnswer>>

/** Exit code 1 where a check fails: the first one is named. */
export async function verify(call: VerifyCall): Promise<number> {
  const { given, mode, out } = call
  const named = given.required(0)
  const project = await openProject(call)
  try {
    const subject = isArchivePath(named)
      ? await verifyFile(call, project, named)
      : await verifyVersion(call, project, named)
    if (mode.json) await out.json({ ok: true, ...subject, signers: [...subject.signers], problem: null })
    else {
      const about = subject.name === named ? [] : [subject.name]
      out.line([safeText(named), 'ok', ...about, `signed by ${subject.signers.join(', ')}`].join('  '))
      out.line(subject.closure)
    }
    return 0
  } catch (error) {
    if (!(error instanceof TrustProblem)) throw error
    const { step, message: why } = error
    if (mode.json) await out.json({ ok: false, name: null, closure: null, signers: [], problem: { step, why } })
    else out.line(safeText(`${step}: ${why}`))
    return 1
  }
}

async function verifyFile(call: VerifyCall, project: Project, named: string): Promise<VerifiedSubject> {
  const trust = await findTrust(call, project)
  if (trust === undefined)
    throw usageFailure('Nothing says whose signature counts.', 'svc verify FILE --trust trust.yaml')
  const bytes = named === '-' ? await stdinBytes(call.io) : await readUserFile(resolve(call.cwd, named), named)
  return await verifySignedArchive(bytes, trust, call.io.clock.now())
}

async function verifyVersion(call: VerifyCall, project: Project, named: string): Promise<VerifiedSubject> {
  const { name, version } = splitVersion(named)
  if (version === undefined)
    throw usageFailure(`"${named}" names no archive and no version.`, 'svc verify FILE.tgz, or AGENT@VERSION')
  const given = await findTrust(call, project)
  return await withOperatorOf(project, call, async (operator) => {
    const { installed } = given ? { installed: null } : await operator.call('GET /trust', {})
    // Also what a server says of itself is checked: its roots have to have signed it.
    const trust = given ?? (installed && openTrust(installed.envelope, undefined, Date.parse(installed.installedAt)))
    if (!trust) throw usageFailure('Nothing says whose signature counts.', 'svc trust install, or --trust trust.yaml')
    const { agentId } = await resolveAgent(name, operator)
    return await verifyPublished(operator, { agentId, version }, trust)
  })
}

/** `--trust`, else the document of the project. */
async function findTrust({ given, cwd, io }: VerifyCall, { directory }: Project): Promise<TrustDocument | undefined> {
  const file = given.text('trust')
  const now = io.clock.now()
  if (file !== undefined) return await readTrustedDocument(resolve(cwd, file), file, now)
  const own = join(directory, 'trust.yaml')
  return existsSync(own) ? await readTrustedDocument(own, 'trust.yaml', now) : undefined
}
