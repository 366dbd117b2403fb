/**
 * The operator application: the routes of `/v1` with an operator as principal, and the operator's own routes: one line each with the
 * function that answers it. `operations/` says what each takes and answers.
 */
import { findOperation, type OwnOperatorRoute } from '../operations/operations.ts'
import { toNodeHandler } from 'h3/node'
import { fail, isFailure } from '../base/failure.ts'
import type { MakeAct } from '../spec/people/act.ts'
import { createActMaker } from './acts/act-maker.ts'
import { firstActOf, recordRefusal } from './acts/record-refusal.ts'
import { listApiRoutes } from './app.ts'
import { mcpRoutes } from './mcp/serve-mcp.ts'
import type { IdentifyCaller } from './auth/auth.ts'
import { findMissingRight } from './auth/operator-rights.ts'
import type { NodeHandler } from './http/listen.ts'
import { readJson, type BodyLimits } from './http/body.ts'
import type { HttpReply } from './http/reply.ts'
import { parseOperatorBody, parseOperatorQuery } from './http/validate-operator.ts'
import { serveRoutes, type ApiRoute, type HttpMethod, type HttpRequestContext } from './http/route.ts'
import type { ServerServices } from './runtime/services.ts'
import type { OperatorAction, OperatorRequest } from './operator/people/act.ts'
import {
  listActRecords,
  listActs,
  listChainedSessions,
  listSessionLinks,
  listSetupRows,
  readSessionRows,
  reportCheckpoint,
} from './operator/acts.ts'
import { listAgents, listDocuments, listVersions, getSnapshot } from './operator/versions/agents.ts'
import { listCalls } from './operator/calls.ts'
import { listCosts } from './operator/costs.ts'
import { decideAgain } from './operator/policy/decide.ts'
import { listDecisions } from './operator/policy/list-decisions.ts'
import { askWhatIf, lintEdits } from './operator/policy/what-if.ts'
import { getGraph } from './operator/versions/graph.ts'
import { getSources, listDeployments } from './operator/versions/history.ts'
import { listEffects, releaseEffect } from './operator/effects.ts'
import { forkRuns, tryForks } from './operator/steer/fork.ts'
import { getFile, keepFile, listFiles } from './operator/files.ts'
import { getOverview } from './operator/overview.ts'
import { keepEvaluation, listEvaluations } from './operator/policy/evals.ts'
import { listNotices, retryNotice, testChannel } from './operator/notices.ts'
import { listOutcomes } from './operator/outcomes.ts'
import { backupRoute } from './operator/backup.ts'
import { streamLive } from './operator/live.ts'
import { streamLogs } from './operator/logs.ts'
import { getDifference, getMatrix } from './operator/versions/authority.ts'
import { createConsoleCode, endConsoleSession, listConsoleSessions, signOutEverywhere } from './operator/console.ts'
import { identifyOnChannel, type IdentifyOperator, type OperatorIdentity } from './operator/people/identify.ts'
import { createPasskeyChallenge, enrolPasskey, listPasskeys, removePasskey } from './operator/people/passkeys.ts'
import { createKey, createOperatorKey, listKeys, revokeKey } from './operator/keys.ts'
import { getOutline, getStep } from './operator/outline.ts'
import { getHolders } from './operator/steer/holders.ts'
import { listAttestations } from './operator/trust/attestations.ts'
import { getTrust, installTrust } from './operator/trust/install.ts'
import { listLooserVersions } from './operator/versions/looser-versions.ts'
import { deployVersion } from './operator/versions/deploy.ts'
import { publishClosure } from './operator/versions/publish.ts'
import { listRestored, releaseRestored } from './operator/restored.ts'
import { resumeRun, retryRun } from './operator/steer/resume.ts'
import { cancelRun, listRuns, sendMessage, startRun } from './operator/runs.ts'
import { deleteSession, getSession, listSessions, patchSession } from './operator/sessions.ts'
import { migrateRun } from './operator/steer/migrate.ts'
import { listPauses, setPaused } from './operator/steer/pauses.ts'
import { planRunUndo, undoRun } from './operator/steer/undo.ts'
import { revokeStanding } from './operator/standing.ts'
import { getReference } from './operator/reference.ts'
import { getScenario } from './operator/scenario.ts'
import { listSecrets } from './operator/secrets.ts'
import { getStatus } from './operator/status.ts'
import { claimTask, getTask, listSimilarTasks, listTasks, probeTask } from './operator/tasks.ts'
import { createTrigger, deleteTrigger, listTriggers, updateTrigger } from './operator/triggers.ts'
import { drainWorker, listWorkers } from './operator/workers.ts'
import { yankVersion } from './operator/versions/yank.ts'
import { expectDefined } from '../base/values/expect-defined.ts'

const ROUTES: { readonly [R in OwnOperatorRoute]: OperatorAction<R> } = {
  'POST /publish': publishClosure,
  'POST /deploy': deployVersion,
  'GET /trust': getTrust,
  'POST /trust': installTrust,
  'GET /attestations': listAttestations,
  'GET /looser-versions': listLooserVersions,
  'GET /agents': listAgents,
  'GET /versions': listVersions,
  'GET /snapshot': getSnapshot,
  'GET /matrix': getMatrix,
  'GET /graph': getGraph,
  'GET /difference': getDifference,
  'GET /documents': listDocuments,
  'GET /sources': getSources,
  'GET /deployments': listDeployments,
  'POST /lint': lintEdits,
  'POST /decide': decideAgain,
  'POST /what-if': askWhatIf,
  'POST /yank': yankVersion,
  'POST /triggers': createTrigger,
  'PATCH /triggers/:id': updateTrigger,
  'DELETE /triggers/:id': deleteTrigger,
  'GET /triggers': listTriggers,
  'POST /keys': createKey,
  'POST /operator-keys': createOperatorKey,
  'GET /keys': listKeys,
  'POST /keys/:id/revoke': revokeKey,
  'POST /runs': startRun,
  'GET /runs': listRuns,
  'GET /runs/:id/holders': getHolders,
  'GET /runs/:id/outline': getOutline,
  'GET /runs/:id/step': getStep,
  'GET /runs/:id/calls': listCalls,
  'GET /runs/:id/scenario': getScenario,
  'POST /runs/:id/cancel': cancelRun,
  'POST /runs/:id/resume': resumeRun,
  'POST /runs/:id/migrate': migrateRun,
  'POST /runs/:id/retry': retryRun,
  'GET /runs/:id/undo': planRunUndo,
  'POST /runs/:id/undo': undoRun,
  'POST /runs/fork': forkRuns,
  'POST /runs/dry-fork': tryForks,
  'POST /runs/:id/messages': sendMessage,
  'GET /sessions': listSessions,
  'GET /sessions/:id': getSession,
  'PATCH /sessions/:id': patchSession,
  'DELETE /sessions/:id': deleteSession,
  'GET /files': listFiles,
  'POST /files': keepFile,
  'GET /files/content': getFile,
  'GET /tasks': listTasks,
  'GET /tasks/:id': getTask,
  'GET /tasks/:id/similar': listSimilarTasks,
  'POST /tasks/:id/claim': claimTask,
  'POST /tasks/:id/probe': probeTask,
  'GET /decisions': listDecisions,
  'GET /costs': listCosts,
  'GET /overview': getOverview,
  'GET /outcomes': listOutcomes,
  'POST /policies/revoke': revokeStanding,
  'GET /effects': listEffects,
  'POST /effects/release': releaseEffect,
  'GET /evals': listEvaluations,
  'POST /evals': keepEvaluation,
  'GET /notices': listNotices,
  'POST /notices/:id/retry': retryNotice,
  'POST /notices/test': testChannel,
  'GET /passkeys': listPasskeys,
  'POST /passkeys/challenge': createPasskeyChallenge,
  'POST /passkeys': enrolPasskey,
  'POST /passkeys/:id/remove': removePasskey,
  'GET /pauses': listPauses,
  'POST /pauses': setPaused,
  'GET /logs': streamLogs,
  'POST /backup': backupRoute,
  'GET /restored': listRestored,
  'POST /restored/release': releaseRestored,
  'POST /console/codes': createConsoleCode,
  'GET /console/sessions': listConsoleSessions,
  'POST /console/sessions/:id/end': endConsoleSession,
  'POST /console/sign-out': signOutEverywhere,
  'GET /live': streamLive,
  'GET /reference': getReference,
  'GET /workers': listWorkers,
  'POST /workers/:id/drain': drainWorker,
  'GET /secrets': listSecrets,
  'GET /status': getStatus,
  'GET /acts': listActs,
  'GET /acts/records': listActRecords,
  'POST /audit/checkpoints': reportCheckpoint,
  'GET /audit/setup': listSetupRows,
  'GET /audit/sessions': listChainedSessions,
  'GET /audit/sessions/:id': listSessionLinks,
  'GET /audit/sessions/:id/rows': readSessionRows,
}

/** A whole compiled bundle travels in one body (32 MiB of sources), schemas nested in it. */
const BODY: BodyLimits = { maxBytes: 64 * 1024 * 1024, maxLevels: 256, maxValues: Infinity }

export interface OperatorApp {
  /** The application without a socket. */
  fetch(request: Request): Promise<Response>
  /** The application as the request handler of a listener. */
  readonly handleNode: NodeHandler
}

/** The differences between a listener and the local channel. */
export interface OperatorListener {
  /** Of requests that belong to no session of the console. */
  readonly channel: 'local' | 'api'
  readonly identify: IdentifyOperator
  /** Runs before routing; throws a Failure to refuse. */
  readonly check: (call: HttpRequestContext) => void
  /** Its own routes. */
  readonly routes: readonly ApiRoute[]
}

const LOCAL_CHANNEL: OperatorListener = { channel: 'local', identify: identifyOnChannel, check: () => {}, routes: [] }

export function createOperatorApp(
  services: ServerServices,
  { channel, identify: identifyOperator, check, routes }: OperatorListener = LOCAL_CHANNEL,
): OperatorApp {
  const { ids, clock, log, redactor, serverState: about } = services
  const guard = (call: HttpRequestContext) => {
    check(call)
    if (about.closing) throw fail('shutting_down')
  }
  const identify: IdentifyActor = async (call) => {
    try {
      const identity = await identifyOperator(services, call)
      const act = createActMaker(services, call, identity, channel)
      const refusal = findMissingRight(identity.may, call)
      if (refusal) {
        await recordRefusal(services, 'access.used', call, refusal, act)
        throw refusal
      }
      return { ...identity, act }
    } catch (error) {
      // Whoever shows no credential at all is asked to sign in, and has tried nothing.
      if (isFailure(error, 'invalid_operator_key'))
        await recordRefusal(services, 'access.used', call, error, createActMaker(services, call, {}, channel))
      throw error
    }
  }
  const identifyForApi: IdentifyCaller = async (_, call) => {
    const { operator: principal, endsAt: expiresAt, keyId, consoleSession, commandSession, act } = await identify(call)
    const proof = {
      ...(keyId && { keyId }),
      ...(consoleSession && { consoleSession }),
      ...(commandSession && { commandSession }),
    }
    return { ...proof, act, principal, trigger: null, isTriggerHeld: false, expiresAt }
  }
  const own = Object.entries(ROUTES).map(([line, act]) =>
    // Each action is paired with its own route here, so the answer's type does not matter any more.
    toRoute(services, identify, line, act as (request: OperatorRequest) => Promise<unknown>),
  )
  const all = [...routes, ...listApiRoutes(services, identifyForApi), ...mcpRoutes(services, identifyForApi), ...own]
  const app = serveRoutes({ ids, clock, log, redactor, guard, logsReads: false }, all)
  return { fetch: async (request) => app.fetch(request), handleNode: toNodeHandler(app) as NodeHandler }
}

type IdentifyActor = (call: HttpRequestContext) => Promise<OperatorIdentity & { readonly act: MakeAct }>

function toRoute(
  services: ServerServices,
  identify: IdentifyActor,
  line: string,
  act: (request: OperatorRequest) => Promise<unknown>,
): ApiRoute {
  const [method, path] = line.split(' ') as [HttpMethod, string]
  const { body, answer: form, isQuestion } = expectDefined(findOperation(line), `${line} is an operation`)
  return {
    method,
    path,
    async handle(call) {
      const identity = await identify(call)
      const request: OperatorRequest = {
        services,
        ...identity,
        body:
          method === 'GET' || body === 'bytes' ? undefined : await parseOperatorBody(line, await readJson(call, BODY)),
        query: await parseOperatorQuery(line, call.url.searchParams),
        id: (call.params['id'] ?? '').toLowerCase(),
        call,
      }
      let answer: unknown
      try {
        answer = await act(request)
      } catch (error) {
        const kind = firstActOf(line)
        if (kind !== undefined) await recordRefusal(services, kind, call, error, identity.act)
        throw error
      }
      // The engine also reports changes of sessions; a superfluous hint costs a reader one request.
      if (method !== 'GET' && !isQuestion) services.changes.tell()
      return form === 'stream' ? (answer as HttpReply) : { status: 200, json: answer }
    },
  }
}
