/** Sessions, runs and updates with defaults for everything that a test does not set. */
import { digestOf } from '../../src/base/digest.ts'
import {
  agentIdOf,
  nameBasedId,
  versionIdOf,
  workspaceIdOf,
  type FileId,
  type KeyId,
  type RunId,
  type SessionId,
  type TaskId,
  type TriggerId,
} from '../../src/base/ids.ts'
import type { StoredEvent } from '../../src/spec/event.ts'
import type { StoredFile } from '../../src/spec/file.ts'
import type { ApiKey, ConsoleSession, OperatorKey, Trigger } from '../../src/spec/people/key.ts'
import type { OneTimeToken, Passkey } from '../../src/spec/people/passkey.ts'
import type { PolicySet } from '../../src/spec/policy-set.ts'
import { NOTHING_USED, type Run } from '../../src/spec/run/run.ts'
import type { Session } from '../../src/spec/run/session.ts'
import type { AgentSnapshot } from '../../src/spec/snapshot.ts'
import type { KeptEvaluation } from '../../src/spec/evaluation.ts'
import type { Attestation, InstalledTrust } from '../../src/spec/trust/attestation.ts'
import type { RunStep } from '../../src/spec/step.ts'
import type { TaskRecord } from '../../src/spec/task.ts'
import type { VersionPublication } from '../../src/store/version-rows.ts'
import type { StartLimits } from '../../src/store/start-outcome.ts'
import type { SessionUpdate } from '../../src/store/session-update.ts'

export const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)
export const WORKSPACE = workspaceIdOf('main')
export const AGENT = agentIdOf('main', 'pay.clerk')
export const TRIGGER: TriggerId = nameBasedId('trigger', 'api')

export const sessionId = (name: string): SessionId => nameBasedId('session', name)
export const runId = (name: string): RunId => nameBasedId('run', name)
export const taskId = (name: string): TaskId => nameBasedId('task', name)

export const keyId = (name: string): KeyId => nameBasedId('key', name)
export const fileId = (name: string): FileId => nameBasedId('file', name)

export const NO_LIMITS: StartLimits = {
  ratePerMinute: null,
  ratePerDay: null,
  maxConcurrentRuns: null,
  planRunsPerDay: null,
  planTokensPerDay: null,
  planCostPerDay: null,
}

export const aSession = (name: string, about: Partial<Session> = {}): Session => ({
  id: sessionId(name),
  workspaceId: WORKSPACE,
  agentId: AGENT,
  agentName: 'pay.clerk',
  agentVersionId: versionIdOf('main', 'pay.clerk', 'sha256:1'),
  versionLabel: '1.0.0',
  llmModel: 'model-1',
  triggerType: 'api',
  triggeredBy: 'key:1',
  person: null,
  triggerId: TRIGGER,
  triggerName: 'api',
  rootRunId: runId(name),
  status: 'Running',
  totalTokensUsed: 0,
  runCount: 1,
  output: null,
  error: null,
  input: { order: name },
  startContext: { trigger: 'api' },
  startedAt: NOW,
  finishedAt: null,
  version: 0,
  lastSeq: 0,
  lastOrdinal: 0,
  ...about,
})

export const aRun = (session: Session, about: Partial<Run> = {}): Run => ({
  id: session.rootRunId,
  sessionId: session.id,
  workspaceId: session.workspaceId,
  agentId: session.agentId,
  agentName: session.agentName,
  agentVersionId: session.agentVersionId,
  versionLabel: session.versionLabel,
  llmModel: session.llmModel,
  parentRunId: null,
  parentCallId: null,
  depth: 0,
  input: session.input,
  state: { at: 'thinking', turn: 1, attempt: 1 },
  status: session.status,
  usage: NOTHING_USED,
  lastSequence: 0,
  output: session.output,
  error: null,
  errorCode: null,
  startedAt: session.startedAt,
  finishedAt: session.finishedAt,
  ...about,
})

/** An update that changes nothing; `subjects` adds events, numbered after the session's last one. */
export const anUpdate = (
  session: Session,
  about: Partial<SessionUpdate> & { subjects?: readonly string[] } = {},
): SessionUpdate => {
  const { subjects = [], ...rest } = about
  const events = subjects.map((subject, index) => anEvent(session, session.lastSeq + index + 1, subject))
  return {
    runs: [],
    steps: [],
    closedSteps: [],
    tasks: [],
    calls: [],
    setTimers: [],
    clearTimers: [],
    spends: [],
    busy: true,
    ...rest,
    session: { ...(rest.session ?? session), lastSeq: session.lastSeq + events.length },
    events,
  }
}

/** The first update of a session with one run. */
export const aStart = (
  name: string,
  about: Partial<Session> = {},
  turn: Partial<SessionUpdate> = {},
): SessionUpdate => {
  const session = aSession(name, about)
  return anUpdate(session, {
    runs: [aRun(session)],
    subjects: ['engine.session.started', 'engine.run.started'],
    ...turn,
  })
}

export const anEvent = (session: Session, seq: number, subject: string): StoredEvent => ({
  sessionId: session.id,
  seq,
  runId: session.rootRunId,
  ts: NOW + seq,
  kind: subject.startsWith('engine.session') ? 'session' : 'run',
  subject,
  data: { seq },
})

export const aStep = (session: Session, ordinal: number, about: Partial<RunStep> = {}): RunStep => ({
  id: nameBasedId('step', session.id, String(ordinal)),
  sessionId: session.id,
  runId: session.rootRunId,
  type: 'Reasoning',
  sequence: ordinal,
  ordinal,
  content: { text: `step ${ordinal}` },
  tokensUsed: 7,
  error: null,
  startedAt: NOW + ordinal,
  finishedAt: NOW + ordinal + 1,
  ...about,
})

export const aTask = (session: Session, name: string, about: Partial<TaskRecord> = {}): TaskRecord => ({
  id: taskId(name),
  sessionId: session.id,
  runId: session.rootRunId,
  kind: 'approval',
  status: 'pending',
  title: `Approve ${name}`,
  arguments: { amount: 180 },
  approvalsRequired: 2,
  votes: [],
  createdAt: NOW,
  ...about,
})

export const aKey = (name: string, about: Partial<ApiKey> = {}): ApiKey => ({
  id: keyId(name),
  workspaceId: WORKSPACE,
  agentId: AGENT,
  triggerId: TRIGGER,
  name,
  person: null,
  prefix: 'svc_abcd',
  hash: digestOf(name).slice(7),
  allowUploads: true,
  createdAt: NOW,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
  ...about,
})

export const anOperatorKey = (name: string, about: Partial<OperatorKey> = {}): OperatorKey => ({
  id: keyId(name),
  workspaceId: WORKSPACE,
  email: `${name}@acme.example`,
  roles: ['finance', 'legal'],
  name: null,
  prefix: 'svc_abcd',
  hash: digestOf(name).slice(7),
  createdAt: NOW,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
  ...about,
})

export const aConsoleSession = (name: string, about: Partial<ConsoleSession> = {}): ConsoleSession => ({
  id: nameBasedId('console', name),
  workspaceId: WORKSPACE,
  hash: digestOf(name).slice(7),
  operator: `${name}@acme.example`,
  keyId: null,
  purpose: 'console',
  provider: null,
  signIn: null,
  browser: 'Chromium',
  createdAt: NOW,
  lastUsedAt: NOW,
  expiresAt: null,
  endedAt: null,
  ...about,
})

export const anAttestation = (name: string, about: Partial<Attestation> = {}): Attestation => ({
  workspaceId: WORKSPACE,
  digest: digestOf(name),
  kind: 'deployment',
  subject: digestOf(about.kind ?? 'snapshot'),
  agent: 'pay.clerk',
  revision: 1,
  envelope: '{}',
  signers: ['ana'],
  at: NOW,
  ...about,
})

export const anEvaluation = (name: string, about: Partial<KeptEvaluation> = {}): KeptEvaluation => ({
  id: name,
  workspaceId: WORKSPACE,
  at: NOW,
  by: 'operator:ana',
  agent: 'pay.clerk',
  report: {
    dataset: 'evals/pay.jsonl',
    now: {
      name: 'workspace',
      passed: 1,
      failed: 0,
      undecided: 0,
      rate: { share: 1, low: 0.2, high: 1 },
      tokens: 7,
      cost: { amounts: { EUR: '0.01' }, unpriced: 0 },
    },
    cases: [],
    moreCases: 0,
  },
  ...about,
})

export const aTrust = (version: number): InstalledTrust => ({
  workspaceId: WORKSPACE,
  version,
  digest: digestOf(`trust ${version}`),
  envelope: '{}',
  installedAt: NOW,
  installedBy: 'ana',
})

export const aPasskey = (name: string, about: Partial<Passkey> = {}): Passkey => ({
  id: nameBasedId('passkey', name),
  workspaceId: WORKSPACE,
  operator: 'ana@acme.example',
  name,
  credentialId: `credential-of-${name}`,
  publicKey: 'MFkw',
  algorithm: -7,
  signCount: 0,
  isDeviceBound: true,
  isBackedUp: false,
  createdAt: NOW,
  lastUsedAt: null,
  removedAt: null,
  ...about,
})

export const aOneTimeToken = (name: string, about: Partial<OneTimeToken> = {}): OneTimeToken => ({
  hash: digestOf(name).slice(7),
  workspaceId: WORKSPACE,
  purpose: 'approve',
  operator: 'ana@acme.example',
  subject: null,
  createdAt: NOW,
  expiresAt: NOW + 60_000,
  usedAt: null,
  ...about,
})

export const aTrigger = (about: Partial<Trigger> = {}): Trigger => ({
  id: TRIGGER,
  workspaceId: WORKSPACE,
  agentId: AGENT,
  type: 'api',
  name: 'api',
  active: true,
  exposeTimeline: true,
  allowDelete: false,
  allowApprovals: true,
  allowOlderVersions: true,
  allowIps: ['10.0.0.0/8'],
  ratePerMinute: 5,
  ratePerDay: null,
  maxConcurrentRuns: 3,
  cron: null,
  timeZone: null,
  input: null,
  refusal: null,
  createdAt: NOW,
  ...about,
})

export const aFile = (name: string, about: Partial<StoredFile> = {}): StoredFile => ({
  id: fileId(name),
  workspaceId: WORKSPACE,
  objectKey: `${WORKSPACE}/files/${name}`,
  stagingKey: `${WORKSPACE}/staging/${name}`,
  filename: name,
  mediaType: 'text/plain',
  maxBytes: 100,
  sizeBytes: null,
  createdAt: NOW,
  expiresAt: NOW + 900_000,
  finalizedAt: null,
  ...about,
})

// The store never reads inside a policy set.
const NO_POLICIES = { v: 1, compiler: 'test' } as PolicySet

export const aSnapshot = (id: string, version: string, purpose = 'Pays.'): AgentSnapshot => ({
  v: 1,
  id,
  namespace: id.split('.')[0]!,
  name: id.split('.')[1]!,
  version,
  labels: {},
  classifications: [],
  boundaries: [],
  purpose,
  instructions: { text: 'Pay.', digest: digestOf('Pay.') },
  model: { provider: 'scripted', name: 'model-1' },
  secrets: {},
  mcpServers: [],
  tools: [],
  agents: [],
  limits: {},
  output: { format: 'text', strict: false, on_invalid: 'fail' },
  policies: NO_POLICIES,
  digest: digestOf(`${id}@${version} ${purpose}`),
})

export const aPublication = (
  snapshots: readonly AgentSnapshot[],
  about: Partial<VersionPublication> = {},
): VersionPublication => ({
  workspaceId: WORKSPACE,
  agents: snapshots.map((snapshot) => ({
    id: versionIdOf('main', snapshot.id, snapshot.digest),
    agentId: agentIdOf('main', snapshot.id),
    snapshot,
    closureDigest: digestOf('closure'),
  })),
  documents: [],
  at: NOW,
  by: 'operator:ann',
  ...about,
})
