/** Notices for a program: JSON on standard input, exit code 0 for delivered. Source: docs/design/notifications.md#commands */
import type { ChannelConfig } from '../../spec/project/config.ts'
import { runProgram } from '../../tools/command.ts'
import { failedTry, type ChannelParts, type NoticeChannel } from './channel.ts'

export function openCommandChannel(config: ChannelConfig, parts: ChannelParts): NoticeChannel {
  const { env, configDirectory: cwd, timeoutMs, clock, redactor } = parts
  const program = { argv: config.command!, cwd, env, allow: config.env ?? [], timeoutMs, clock, redactor }
  return {
    mostAtOnce: 1,
    async send([message], signal) {
      const ended = await runProgram(program, message!.body, signal)
      if (ended.at !== 'ended') return failedTry(ended.error)
      if (ended.exitCode === 0) return { at: 'delivered' }
      return failedTry(`exit code ${ended.exitCode}${ended.stderr.trim() === '' ? '' : `: ${ended.stderr.trim()}`}`)
    },
  }
}
