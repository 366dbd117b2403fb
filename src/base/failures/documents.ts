/** Failures of compiling and publishing documents. */
import { EXIT, type FailureRow } from './failure-row.ts'

export const documentFailures = {
  documents_have_errors: {
    status: 422,
    exit: EXIT.bad,
    message: (a: { errors: number; files: number }) =>
      `${a.errors} ${a.errors === 1 ? 'error' : 'errors'} in ${a.files} ${a.files === 1 ? 'file' : 'files'}.`,
  },
  file_unreadable: {
    exit: EXIT.bad,
    message: (a: { path: string; why: string }) => `${a.path} cannot be read: ${a.why}.`,
  },
  no_documents: {
    exit: EXIT.absent,
    message: (a: { where: string; why?: string }) =>
      `No svc document was found in ${a.where}${a.why === undefined ? '' : `: ${a.why}`}.`,
    fix: 'svc init writes a first project.',
  },
  version_exists: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { id: string; version: string; differs: string; others: number }) =>
      `${a.id}@${a.version} is published with other content (${a.differs})${describeOthers(a.others)}.`,
    fix: 'Raise metadata.version, or publish with --bump; published versions never change.',
  },
  bundle_invalid: { exit: EXIT.bad, message: (a: { what: string }) => a.what },
  authority_widened: {
    exit: EXIT.usage,
    message: (a: { changes: number }) =>
      `${a.changes === 1 ? 'One change widens' : `${a.changes} changes widen`} what the agent may do, and nobody can be asked here.`,
    fix: 'Review them with svc publish --plan, then add --allow-widen.',
  },
  version_yanked: {
    status: 409,
    exit: EXIT.usage,
    message: (a: { id: string; version: string; reason?: string | undefined; act?: 'deployed' | 'executed' }) =>
      `${a.id}@${a.version} is yanked${a.reason === undefined ? '' : ` (${a.reason})`}, so it is not ${a.act ?? 'deployed'} unasked.`,
    fix: 'Name another version, or add --allow-yanked where the command takes it.',
  },
  version_altered: {
    status: 500,
    exit: EXIT.denied,
    message: (a: { what: string }) =>
      `${a.what} in the database is not what was published: its digest is another one, so it does not run.`,
    fix: 'svc audit export and svc audit verify say what else was changed. Restore a backup, or publish and deploy it under a new version.',
  },
  trust_refused: {
    status: 403,
    exit: EXIT.denied,
    message: (a: { what: string; step: string; why: string }) =>
      `The ${a.what} is refused at the check of its ${a.step}: ${a.why}.`,
    fix: 'svc trust show says whose signature counts for what.',
  },
  trust_unreadable: {
    exit: EXIT.bad,
    message: (a: { file: string; line: number; why: string }) => `${a.file}:${a.line}: ${a.why}`,
  },
  signed_otherwise: {
    exit: EXIT.conflict,
    message: (a: { what: string; signed: string; found: string }) =>
      `Somebody else signed ${a.what} ${a.signed}, and it is ${a.found} now.`,
    fix: 'Prepare the statement anew.',
  },
  deploy_regression: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { agent: string; revision: number; latest: number; moved: boolean }) =>
      a.moved && a.revision === a.latest + 1
        ? `The signed deployment of ${a.agent} replaces another version than the one that is deployed.`
        : `The signed deployment of ${a.agent} has revision ${a.revision}, and ${a.latest + 1} is next.`,
    fix: 'Sign it anew; to go back to an older version, too: svc deploy NAMESPACE.NAME@VERSION --sign.',
  },
  version_too_small: {
    exit: EXIT.bad,
    message: (a: { id: string; version: string; latest: string; required: string; least: string }) =>
      `${a.id}@${a.version} is too small a step from ${a.latest}: what changed is ${a.required}, so it is at least ${a.least}.`,
    fix: 'Raise metadata.version, or publish with --bump and that step.',
  },
  'compile/drift': {
    exit: EXIT.bad,
    message: (a: { what: string }) => a.what,
    fix: 'svc compile, and commit svc.lock.',
  },
} satisfies Record<string, FailureRow>

/** Members of a bundle besides one that was named. */
function describeOthers(count: number): string {
  if (count === 0) return ''
  return count === 1 ? ', and so is one more member' : `, and so are ${count} more members`
}
