import { expect, test } from 'vitest'
import { createTheme } from '../../src/terminal/theme.ts'

const theme = createTheme(1)

test.each([
  ['ok', theme.ok('text'), '\x1b[32mtext\x1b[39m'],
  ['waiting', theme.waiting('text'), '\x1b[33mtext\x1b[39m'],
  ['bad', theme.bad('text'), '\x1b[31mtext\x1b[39m'],
  ['warn', theme.warn('text'), '\x1b[35mtext\x1b[39m'],
  ['dim', theme.dim('text'), '\x1b[2mtext\x1b[22m'],
  ['name', theme.name('text'), '\x1b[36mtext\x1b[39m'],
  ['strong', theme.strong('text'), '\x1b[1mtext\x1b[22m'],
  ['one inside another', theme.bad(`a ${theme.name('b')} c`), '\x1b[31ma \x1b[36mb\x1b[39m\x1b[31m c\x1b[39m'],
  ['one of another kind inside', theme.bad(`a ${theme.dim('b')}`), '\x1b[31ma \x1b[2mb\x1b[22m\x1b[39m'],
  ['several lines', theme.dim('a\nb\r\nc'), '\x1b[2ma\x1b[22m\n\x1b[2mb\x1b[22m\r\n\x1b[2mc\x1b[22m'],
  ['nothing', theme.ok(''), ''],
])('%s', (_, drawn, expected) => expect(drawn).toBe(expected))

test('without colours a text stays as it is', () => {
  for (const style of Object.values(createTheme(0))) expect(style('a\nb')).toBe('a\nb')
})
