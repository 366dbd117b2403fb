/** The secret that the processes of one store share, and by which they know each other. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { fail } from '../../base/failure.ts'
import { Secret } from '../../base/secret.ts'

const SHORTEST = 16

export interface ClusterSecret {
  /** The value of the header `Authorization`. */
  header(): string
  isIn(headers: Headers): boolean
}

/**
 * @param text `SVC_CLUSTER_SECRET`
 * @returns undefined if absent: then this process neither asks other processes nor answers them
 * @throws Failure `config_invalid`
 */
export function readClusterSecret(text: string | undefined): ClusterSecret | undefined {
  if (text === undefined || text === '') return undefined
  if (!/^[\x21-\x7e]+$/.test(text) || text.length < SHORTEST)
    throw fail('config_invalid', {
      what: `SVC_CLUSTER_SECRET must have at least ${SHORTEST} visible ASCII characters, such as those of openssl rand -hex 32.`,
    })
  const secret = new Secret(text)
  const wanted = digestOf(`Bearer ${text}`)
  return {
    header: () => `Bearer ${secret.reveal()}`,
    isIn: (headers) => timingSafeEqual(digestOf(headers.get('authorization') ?? ''), wanted),
  }
}

/** Compares digests, which have equal lengths. */
const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()
