#!/usr/bin/env node
// A second verifier of svc audit export, written without svc: node verify.mjs FILE [EARLIER]
// It exits with 1 at the first thing that is not as it was recorded, or was not allowed.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const sha256 = (text, encoding = 'hex') => createHash('sha256').update(text).digest(encoding)
const fold = (name) => name.normalize('NFKC').toLowerCase()
const START = '0'.repeat(64)
const PROOFS = ['none', 'link', 'key', 'ssh', 'passkey', 'hardware']

/** JSON with sorted keys and no space (RFC 8785): numbers and texts are as JSON.stringify writes them. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.keys(value).sort()
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`
}

function check(isGood, what) {
  if (isGood) return
  console.error(what)
  process.exit(1)
}

/** The lines of one file of a tar: headers of 512 bytes, each followed by its content in blocks of 512. */
function linesOf(tar, wanted) {
  const text = (from, to) => tar.subarray(from, to).toString()
  for (let at = 0, end; tar[at] > 0; at = Math.ceil(end / 512) * 512) {
    end = at + 512 + Math.abs(Number.parseInt(text(at + 124, at + 136), 8))
    if (text(at, at + 100).split('\0', 1)[0] !== wanted) continue
    const lines = text(at + 512, end).split('\n')
    check(end <= tar.length && lines.pop() === '', `${wanted} is cut off.`)
    return lines
  }
  check(wanted === 'setup.jsonl', `There is no ${wanted}.`)
}

/** A line that is written in any other way is refused: two readers could see two records in it. */
function parse(line) {
  const value = JSON.parse(line)
  check(canonical(value) === line, `This line is not canonical JSON: ${line.slice(0, 80)}`)
  return value
}

/** Hashes of all acts, in order. Each row that operators set up is what its last act made of it. */
function verifyActs(lines, setupLines) {
  let [hashes, setup, isCovered] = [[], new Map(), true]
  for (const line of lines) {
    const { content, salt, hash, ...record } = parse(line)
    check(record.seq === hashes.length + 1, `Act ${hashes.length + 1} is missing.`)
    const isRecorded = content === null || sha256(`${salt}\n${content}`) === record.contentDigest
    const isWritten = sha256(`${hashes.at(-1) ?? START}\n${canonical(record)}`) === hash
    check(isRecorded && isWritten, `Act ${record.seq} is not the one that was recorded.`)
    hashes.push(hash)
    isCovered &&= record.rowDigests !== undefined
    if (!record.rowDigests) setup.clear()
    for (const [name, digest] of record.rowDigests ?? [])
      if (digest === '') setup.delete(name)
      else setup.set(name, { salt, digest })
  }
  if (setupLines) verifyRows(setupLines.map(parse), setup, isCovered, 'what operators set up')
  return hashes
}

/** Rows are those that were written, with the digest of the last time. An empty digest is one of what is at work. */
function verifyRows(rows, written, isCovered, where) {
  const gone = new Set(written.keys())
  for (const { name, lines } of rows) {
    const { salt, digest } = written.get(name) ?? { digest: isCovered && !name.startsWith('effect ') ? 'none' : '' }
    const isLeft = salt === null || digest === '' || sha256(`${salt}\n${lines.join('\n')}`, 'base64url') === digest
    check(isLeft, `The row "${name}" of ${where} is not as it was left.`)
    gone.delete(name)
  }
  check(gone.size === 0, `A row of ${where} is gone: ${[...gone][0]}.`)
}

/** Hashes of the saves of all sessions, by session and version. Each session has a line of rows. */
function verifySessions(lines, rowLines) {
  const saves = new Map()
  let [open, ended] = [undefined, 0]
  const end = () => open && verifyEnd(open, parse(rowLines[ended++] ?? 'null'))
  for (const line of lines) {
    const value = parse(line)
    if ('lastSeq' in value) {
      end()
      open = { given: value, head: START, ordinal: 0, calls: new Map(), tasks: new Map(), written: new Map() }
    } else verifySave(open, value, saves)
  }
  end()
  return saves
}

function verifyEnd({ given: { session, lastSeq, lastOrdinal }, seq, ordinal, isNew, written }, stored) {
  const isWhole = seq === undefined || (seq === lastSeq && ordinal === lastOrdinal)
  check(isWhole, `Session ${session} does not end where its chain ends.`)
  check(stored?.session === session, `The rows of session ${session} are missing.`)
  if (stored.rows) verifyRows(stored.rows, written, isNew, `session ${session}`)
}

function verifySave(open, { content, salt, hash, results = [], ...record }, saves) {
  check(open && record.session === open.given.session, `A save belongs to no session.`)
  const { session, version, events, steps } = record
  const where = `the save ${version} of session ${session}`
  open.seq ??= (events[0]?.seq ?? 1) - 1
  for (const event of events) check(event.seq === ++open.seq, `Event ${open.seq} of session ${session} is missing.`)
  for (const { ordinal } of steps) {
    check(!open.ordinal || ordinal === open.ordinal + 1, `Step ${open.ordinal + 1} of session ${session} is missing.`)
    open.ordinal = ordinal
  }
  if (content !== null) {
    const isRecorded = sha256(`${salt}\n${content.join('\n')}`) === record.contentDigest
    const isWhole = content.length === steps.length * 4 + events.length * 2
    check(isRecorded && isWhole, `The content of ${where} is not the one that was recorded.`)
    const digests = steps.map((_, at) => content[at * 4 + 1]).filter((each) => each !== 'null')
    check(`${digests}` === `${results.map((each) => `sha256:${sha256(each)}`)}`, `A result of ${where} is another one.`)
  }
  check(sha256(`${open.head}\n${canonical(record)}`) === hash, `The record of ${where} is not the one written.`)
  open.head = hash
  open.isNew ??= version === 1 && record.rows !== undefined
  for (const [name, digest] of record.rows ?? []) open.written.set(name, { salt, digest })
  saves.set(`${session} ${version}`, hash)
  if (!(open.isBare ||= content === null)) verifyCalls(open, record, content)
}

/** Events in order: each shows a step of its save for the first time, or has data of its own. */
function verifyCalls(open, { session, events, steps }, content) {
  const unread = new Map(steps.map((step, at) => [step.ordinal, at]))
  for (const [at, event] of events.entries()) {
    const place = unread.get(event.ordinal)
    unread.delete(event.ordinal)
    if (place !== undefined) {
      const [shown, hidden] = [0, 2].map((line) => JSON.parse(content[place * 4 + line]))
      const fault = readStep(open, steps[place], shown, hidden, event.subject === 'engine.step.started')
      check(!fault, `A call of session ${session} ${fault} (event ${event.seq}).`)
    } else if (event.kind === 'user_task') {
      const [{ task }] = [JSON.parse(content[steps.length * 4 + at * 2])].flat()
      Object.assign(open.tasks.get(task.user_task_id) ?? {}, { request: task })
    }
  }
}

function readStep({ calls, tasks }, { type, runId, ordinal }, content, hidden, isOpen) {
  const call = `${runId} ${content.tool_call_id}`
  const known = calls.get(call)
  const task = tasks.get(content.user_task_id)
  if (type === 'PolicyDecision') calls.set(call, { ordinal, decision: content.decision })
  else if (type === 'UserTaskReq') tasks.set(content.user_task_id, { ordinal, runId, request: content, ...hidden })
  else if (type === 'UserTaskRes' && task) task.answer = { ...content, ...hidden }
  else if ((type === 'ToolResult' || type === 'SubAgentResult') && known) known.isSettled = true
  const isSent = (type === 'ToolCall' || type === 'SubAgentCall') && isOpen
  // Tools of the engine decide nothing, and a probe reads the state of a call for a person.
  return isSent && content.route !== 'builtin' && !content.probe_of && faultOf(call, runId, content, known, tasks)
}

function faultOf(call, runId, content, known, tasks) {
  if (!known) return 'was sent without a decision'
  if (known.isSettled) return 'was sent again after its result'
  if (known.decision === 'allow') return undefined
  if (!['require_approval', 'escalate'].includes(known.decision)) return `was sent although decided: ${known.decision}`
  const asked = [...tasks.values()].filter((task) => task.runId === runId && task.ordinal > known.ordinal)
  const given = asked.filter(({ request, answer }) => request.tool?.name === content.name && answer?.approved === true)
  if (given.length === 0) return 'was sent without the approval that it needed'
  const digest = `sha256:${sha256(canonical(content.arguments ?? content.input))}`
  const same = given.filter((task) => task.request.arguments_digest === digest)
  if (same.length === 0) return 'was sent with other arguments than those that were approved'
  const used = same.find(({ usedBy }) => usedBy === undefined || usedBy === call)
  if (!used) return 'was sent with an approval that another call had used'
  used.usedBy = call
  return faultOfVotes(used)
}

function faultOfVotes({ request, answer, approver_role: role, not_by: starter }) {
  if (answer.outcome === 'timed_out') return request.on_timeout !== 'allow' && 'was sent although nobody approved it'
  const votes = answer.votes?.filter(({ approved }) => approved) ?? [{ by: answer.completed_by, proof: answer.proof }]
  const least = PROOFS.indexOf(request.approval_proof ?? 'none')
  const isProved = ({ by, proof }) => by && least >= 0 && PROOFS.indexOf(proof ?? 'none') >= least
  const hasRole = (roles) => !role || roles.includes(role) || role.split(' and ').every((each) => roles.includes(each))
  const might = ({ by }) => (!starter || fold(by) !== fold(starter)) && hasRole(answer.roles?.[by] ?? [])
  const people = new Set(votes.filter((vote) => isProved(vote) && might(vote)).map(({ by }) => fold(by)))
  const isEscalation = request.kind === 'escalation'
  const needed = isEscalation ? 1 : (request.approvals_required ?? 1)
  if (people.size < needed) return `was sent with ${people.size} of ${needed} approvals`
  if (isEscalation && ![...people].some((by) => by.startsWith('operator:'))) return 'was sent without an operator'
}

const [, , file, earlier] = process.argv
check(file !== undefined, 'node verify.mjs FILE [EARLIER]')
const [now, old] = [file, earlier].map((path) => {
  const tar = path && readFileSync(path)
  const files = ['acts', 'setup', 'sessions', 'rows'].map((name) => (tar ? linesOf(tar, `${name}.jsonl`) : []))
  return { acts: verifyActs(files[0], files[1]), saves: verifySessions(files[2], files[3]) }
})
const at = old.acts.findIndex((hash, index) => now.acts[index] !== hash)
check(at < 0, `Act ${at + 1} of the earlier export is not there, or another one.`)
const sessions = new Set([...now.saves.keys()].map((key) => key.split(' ')[0]))
for (const [key, hash] of old.saves)
  if (sessions.has(key.split(' ')[0])) check(now.saves.get(key) === hash, `The save ${key} is another one.`)
const counted = `${now.acts.length} acts, head ${now.acts.at(-1) ?? 'none'}`
console.log(`${counted}; ${sessions.size} sessions, ${now.saves.size} saves`)
