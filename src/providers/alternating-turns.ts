import type { MessagePart, ModelMessage } from './provider.ts'

interface MessageTurn<Block> {
  role: 'user' | 'assistant'
  content: Block[]
}

/**
 * Messages for an API that requires user and assistant to alternate and refuses empty messages: tool results belong to the user,
 * adjacent messages of one role are merged, and empty ones are left out.
 */
export function alternatingTurns<Block>(
  messages: readonly ModelMessage[],
  toBlocks: (message: ModelMessage) => readonly Block[],
): MessageTurn<Block>[] {
  const turns: MessageTurn<Block>[] = []
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const content = toBlocks(message)
    if (content.length === 0) continue
    const last = turns.at(-1)
    if (last?.role === role) last.content.push(...content)
    else turns.push({ role, content: [...content] })
  }
  return turns
}

/** Whether a text has nothing to read: vendors refuse such blocks, so they are not sent back. */
export const isBlank = (text: string): boolean => text.trim() === ''

/** Stands for a blank text where there must be one. */
export const NOTHING_TO_READ = '(empty)'

/** The parts of a user's message that have something to read; one that says so where none has. */
export function partsToRead(parts: readonly MessagePart[]): readonly MessagePart[] {
  const left = parts.filter((part) => part.type !== 'text' || !isBlank(part.text))
  return left.length > 0 ? left : [{ type: 'text', text: NOTHING_TO_READ }]
}
