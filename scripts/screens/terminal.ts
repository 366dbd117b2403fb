/** A terminal of a given width that a program writes to and that is typed into: tmux, which keeps styles as they were written. */
import { execFileSync, spawnSync } from 'node:child_process'
import { setTimeout as after } from 'node:timers/promises'

export interface RecordedTerminal {
  /** Types text as a person would; `Enter`, `Escape` and `C-c` are keys. */
  readonly type: (...keys: readonly string[]) => void
  /** Lines with ANSI styles, as soon as the text matches. @throws Error after 30 s, with what is shown */
  readonly capture: (until: RegExp) => Promise<string[]>
  /** The lines that are on the screen now, with ANSI styles. */
  readonly frame: () => readonly string[]
  readonly close: () => void
}

export interface TerminalServer {
  readonly open: (size: { width: number; height: number }, directory: string, command: string) => RecordedTerminal
  readonly close: () => void
}

const PATIENCE_MS = 30_000
const POLL_MS = 50

/** @param environment the whole environment of what runs in it */
export function openTerminals(environment: Readonly<Record<string, string>>): TerminalServer {
  const socket = `svc-pictures-${process.pid}`
  const tmux = (...args: readonly string[]): string =>
    execFileSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: environment,
    })
  let opened = 0
  return {
    open({ width, height }, directory, command) {
      const name = `screen${opened++}`
      const size = ['-x', String(width), '-y', String(height)]
      tmux('new-session', '-d', '-s', name, ...size, '-c', directory, `TERM=tmux-256color ${command}; sleep 600`)
      const read = (...options: readonly string[]): string => tmux('capture-pane', '-p', '-t', name, ...options)
      return {
        type: (...keys) => {
          tmux('send-keys', '-t', name, ...keys)
        },
        async capture(until) {
          for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await after(POLL_MS)) {
            if (!until.test(read('-S', '-'))) continue
            // What is still being written belongs to the screen.
            await after(3 * POLL_MS)
            return read('-e', '-S', '-').trimEnd().split('\n')
          }
          throw new Error(`${command} does not show ${String(until)}:\n${read('-S', '-')}`)
        },
        frame: () => read('-e').trimEnd().split('\n'),
        close: () => {
          tmux('kill-session', '-t', name)
        },
      }
    },
    close: () => {
      // It may have ended with its last session.
      spawnSync('tmux', ['-L', socket, 'kill-server'])
    },
  }
}
