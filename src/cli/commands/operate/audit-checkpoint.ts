/** `svc audit checkpoint`: signs how far the chains have come. Source: docs/design/audit.md#checkpoints */
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, rm, stat, truncate } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fail } from '../../../base/failure.ts'
import { fileFailure } from '../../../base/files/file-error.ts'
import { replacePrivateFile } from '../../../base/files/private-file.ts'
import { expectDefined } from '../../../base/values/expect-defined.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import type { ActRecord } from '../../../spec/act.ts'
import { signCheckpoint, writeKeyLine } from '../../../spec/chain/checkpoint.ts'
import { createMerkleTree } from '../../../spec/chain/merkle-tree.ts'
import type { auditCheckpointAnswer } from '../../answers/operate.ts'
import { readUserFile } from '../../files/read-file.ts'
import { momentOptions } from '../../project/request-command.ts'
import { withOperator, type OperatorClient } from '../../project/server/operator.ts'
import type { CommandContext } from '../../shell/command.ts'
import { countNoun } from '../../shell/counted.ts'
import { usageFailure } from '../../shell/usage-failure.ts'
import { readPrivateKey } from '../../trust/signer.ts'
import { readAuditLog, writeCheckpoint, writeHead, type AuditLog, type LoggedHead } from './audit-log.ts'
import { MOST_MIB, readActs, readSessions } from './audit.ts'

/** Exit code 1 where what was signed is another one now, or a receiver did not take the checkpoint. */
export async function auditCheckpoint(call: CommandContext<ValueOf<typeof auditCheckpointAnswer>>): Promise<number> {
  const { given, mode, out, cwd } = call
  const named = expectDefined(given.argument(0), 'the log is no option')
  const path = resolve(cwd, named)
  const givenKey = given.text('key')
  if (givenKey === undefined)
    throw usageFailure('A checkpoint is signed with a key.', `svc audit checkpoint ${named} --key audit.pem`)
  const keyPath = resolve(cwd, givenKey)
  const { since } = momentOptions(call, 'since')
  const { privateKey, isNew } = await readKey(keyPath)
  return await withLock(path, async () => {
    const log = await readLog(path, named)
    const { heads, workspace, changed } = await withOperator(call, (operator) => readNewHeads(operator, log, since))
    if (changed !== undefined) {
      out.line(`checkpoint: Act ${changed} is another one than the one that was signed, or is gone.`)
      return 1
    }
    const origin = log.checkpoints[0]?.origin ?? `svc/${workspace ?? 'empty'}`
    const note =
      heads.length > 0 ? await addCheckpoint(path, log, heads, origin, privateKey) : log.checkpoints.at(-1)?.note
    const url = given.text('post')
    const refused = url !== undefined && note !== undefined ? await postNote(url, note) : undefined
    const key = writeKeyLine(origin, createPublicKey(privateKey))
    const [size, posted] = [log.leaves.length + heads.length, url === undefined ? null : refused === undefined]
    if (mode.json) await out.json({ log: named, heads: heads.length, size, posted, key })
    else {
      out.line(`${countNoun(heads.length, 'head')} → ${named}, ${size} signed`)
      if (isNew) out.line(`A new key is in ${keyPath}. Whoever checks needs this line: ${key}`)
      if (refused !== undefined) out.line(`${url} did not take the checkpoint: ${refused}. The next one covers it.`)
    }
    return posted === false ? 1 : 0
  })
}

/** Makes the key where there is none. */
async function readKey(path: string): Promise<{ readonly privateKey: KeyObject; readonly isNew: boolean }> {
  if (!existsSync(path)) {
    const { privateKey } = generateKeyPairSync('ed25519')
    try {
      replacePrivateFile(path, privateKey.export({ format: 'pem', type: 'pkcs8' }).toString())
    } catch (error) {
      throw fileFailure(error, { path, doing: 'written' }) ?? error
    }
    return { privateKey, isNew: true }
  }
  return { privateKey: await readPrivateKey(path, (await readUserFile(path)).toString()), isNew: false }
}

async function readLog(path: string, named: string): Promise<AuditLog> {
  const log = readAuditLog(existsSync(path) ? (await readUserFile(path, named, MOST_MIB)).toString() : '')
  if (typeof log === 'string')
    throw fail(
      'file_unusable',
      { path: named, doing: 'continued', why: log },
      { fix: 'Keep it, find out who changed it, and begin another log.' },
    )
  return log
}

/** Longer than any checkpoint takes. */
const STALE_LOCK_MS = 10 * 60_000

async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`
  const held = await stat(lock).catch(() => undefined)
  if (held && Date.now() - held.mtimeMs > STALE_LOCK_MS) await rm(lock, { force: true })
  try {
    await (await open(lock, 'wx')).close()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw usageFailure(`Another svc audit checkpoint writes this log: ${lock} is there.`)
    throw fileFailure(error, { path: lock, doing: 'written' }) ?? error
  }
  try {
    return await work()
  } finally {
    await rm(lock, { force: true })
  }
}

interface NewHeads {
  readonly heads: readonly LoggedHead[]
  readonly workspace?: string
  /** Number of an act that was signed, and is another one now. */
  readonly changed?: number
}

async function readNewHeads(
  operator: OperatorClient,
  { heads }: AuditLog,
  since: string | undefined,
): Promise<NewHeads> {
  const versions = new Map<string, number>()
  let last = { act: 0, hash: '' }
  for (const head of heads)
    if ('act' in head) last = head
    else versions.set(head.session, head.version)
  const sessions = await readSessions(operator, since === undefined ? {} : { since })
  const acts: readonly ActRecord[] = await readActs(operator, Math.max(0, last.act - 1))
  if (last.act > 0 && acts[0]?.hash !== last.hash) return { heads: [], changed: last.act }
  const newest = acts.at(-1)
  return {
    heads: [
      ...(newest && newest.seq > last.act ? [{ act: newest.seq, hash: newest.hash }] : []),
      ...sessions.flatMap(({ session, head, headVersion: version }) =>
        head !== null && version !== null && versions.get(session) !== version
          ? [{ hash: head, session, version }]
          : [],
      ),
    ],
    ...(newest && { workspace: newest.workspaceId }),
  }
}

/** Appends, so that a full disk leaves what was signed before; the lines that it cuts off were never signed, and are written anew. */
async function addCheckpoint(
  path: string,
  { leaves, signedBytes }: AuditLog,
  heads: readonly LoggedHead[],
  origin: string,
  privateKey: KeyObject,
): Promise<string> {
  const lines = heads.map(writeHead)
  const tree = createMerkleTree()
  for (const leaf of [...leaves, ...lines]) tree.add(leaf)
  const note = signCheckpoint({ origin, size: tree.size, root: tree.root() }, origin, privateKey)
  try {
    if (existsSync(path) && (await stat(path)).size > signedBytes) await truncate(path, signedBytes)
    const file = await open(path, 'a', 0o644)
    try {
      await file.writeFile([...lines, writeCheckpoint(note), ''].join('\n'))
      await file.sync()
    } finally {
      await file.close()
    }
  } catch (error) {
    throw fileFailure(error, { path, doing: 'written' }) ?? error
  }
  return note
}

const POST_MS = 30_000

/** @returns why the receiver did not take it */
async function postNote(url: string, note: string): Promise<string | undefined> {
  try {
    const headers = { 'content-type': 'text/plain; charset=utf-8' }
    const signal = AbortSignal.timeout(POST_MS)
    const { ok, status } = await fetch(url, { method: 'POST', headers, body: note, signal, redirect: 'error' })
    return ok ? undefined : `HTTP ${status}`
  } catch (error) {
    const { cause, message } = error as Error
    return cause instanceof Error ? cause.message : message
  }
}
