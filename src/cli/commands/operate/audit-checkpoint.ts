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
import type { ActRecord } from '../../../spec/people/act.ts'
import { signCheckpoint, writeKeyLine } from '../../../spec/chain/checkpoint.ts'
import { createMerkleTree } from '../../../spec/chain/merkle-tree.ts'
import type { auditCheckpointAnswer } from '../../answers/operate.ts'
import { readUserFile } from '../../files/read-file.ts'
import { momentOptions } from '../../project/request-command.ts'
import type { OperatorClient } from '../../../client/operator.ts'
import { withOperator } from '../../project/server/operator.ts'
import type { CommandContext } from '../../shell/command.ts'
import { countNoun } from '../../shell/counted.ts'
import { durationMs } from '../../shell/numbers.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { readPrivateKey } from '../../trust/signer.ts'
import {
  commitLog,
  postNote,
  putParts,
  readBucketAddress,
  readPostAddress,
  type BucketAddress,
  type PostAddress,
} from './audit-copies.ts'
import {
  partsOfLog,
  readAuditLog,
  writeCheckpoint,
  writeHead,
  type AuditLog,
  type LoggedHead,
  type LogPart,
} from './audit-log.ts'
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
  const places = readPlaces(call)
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
    const readParts = async () => partsOfLog(await readLog(path, named))
    const copies = note === undefined ? [] : await copyOut(places, path, note, readParts)
    const key = writeKeyLine(origin, createPublicKey(privateKey))
    const size = log.leaves.length + heads.length
    const isCopied = copies.every(({ failure }) => failure === null)
    const reported = given.flag('report') && isCopied
    if (reported) await withOperator(call, (operator) => operator.call('POST /audit/checkpoints', { body: { size } }))
    if (mode.json) await out.json({ log: named, heads: heads.length, size, copies, key, reported })
    else {
      out.line(`${countNoun(heads.length, 'head')} → ${named}, ${size} signed`)
      if (isNew) out.line(`A new key is in ${keyPath}. Whoever checks needs this line: ${key}`)
      for (const { to, failure } of copies)
        if (failure !== null) out.line(`${to} did not take the checkpoint: ${failure}. The next one covers it.`)
    }
    return isCopied ? 0 : 1
  })
}

/** Where copies go. */
interface CopyPlaces {
  readonly receiver?: PostAddress
  readonly bucket?: { readonly shown: string; readonly address: BucketAddress; readonly lockMs: number | undefined }
  readonly isCommitted: boolean
}

/** Before anything is signed: a misspelt address is no receiver that is away. */
function readPlaces({ given }: Pick<CommandContext, 'given'>): CopyPlaces {
  const [url, shown, lockMs] = [given.text('post'), given.text('s3'), durationMs(given.text('lock'), 'lock')]
  if (lockMs !== undefined && shown === undefined) throw usageFailure('--lock is for the objects of --s3.')
  return {
    ...(url !== undefined && { receiver: readPostAddress(url) }),
    ...(shown !== undefined && { bucket: { shown, address: readBucketAddress(shown), lockMs } }),
    isCommitted: given.flag('git'),
  }
}

interface CheckpointCopy {
  readonly to: string
  /** Why it has no copy; null where it has one. */
  readonly failure: string | null
}

/** Each place gets what it does not have yet; one that is away holds up no other. */
async function copyOut(
  { receiver, bucket, isCommitted }: CopyPlaces,
  path: string,
  note: string,
  readParts: () => Promise<readonly LogPart[]>,
): Promise<readonly CheckpointCopy[]> {
  const copies: CheckpointCopy[] = []
  const add = (to: string, failure: string | undefined): void => void copies.push({ to, failure: failure ?? null })
  if (receiver) add(receiver.shown, await postNote(receiver, note))
  if (bucket) {
    const { shown, address, lockMs } = bucket
    const lockedUntil = lockMs === undefined ? undefined : Date.now() + lockMs
    add(shown, await putParts(address, await readParts(), lockedUntil))
  }
  if (isCommitted) add('git', await commitLog(path))
  return copies
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
