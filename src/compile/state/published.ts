/** Published documents, as far as compiling needs them. The command line answers from the registry's operator routes. */
import type { PublishedDocument, AgentSnapshot } from '../../spec/snapshot.ts'

export interface PublishedLookup {
  /** The exact version of an agent, yanked or not; undefined when there is none. */
  agent(id: string, version: string): Promise<AgentSnapshot | undefined>
  /** Every version of a Tool, in any order; yanked ones are marked. */
  tools(id: string): Promise<readonly PublishedDocument[]>
  /** Every version of a Policy, in any order; yanked ones are marked. */
  policies(id: string): Promise<readonly PublishedDocument[]>
}

/** A registry without documents. */
export const nothingPublished: PublishedLookup = {
  agent: () => Promise.resolve(undefined),
  tools: () => Promise.resolve([]),
  policies: () => Promise.resolve([]),
}
