import { describe, expect, test } from 'vitest'
import { isGlob, parseGlobs, parseIgnore } from '../../src/documents/text/ignore.ts'

describe('a glob takes', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['a[0-9].yaml', ['a0.yaml', 'a9.yaml'], ['a.yaml', 'aa.yaml', 'a10.yaml', 'a[0-9].yaml']],
    ['[abc].yaml', ['a.yaml', 'c.yaml'], ['d.yaml', 'ab.yaml']],
    ['[!x]*.yaml', ['a.yaml', 'ax.yaml'], ['x.yaml', 'xa.yaml', 'a/b.yaml']],
    ['[^x].yaml', ['a.yaml'], ['x.yaml']],
    ['a[!b]c', ['axc', 'a-c'], ['a/c', 'abc']],
    ['a[+-9]c', ['a.c', 'a5c'], ['a/c']],
    ['[]x]', [']', 'x'], ['[]x]', '[']],
    ['[!]x]', ['a'], [']', 'x']],
    ['[a-]', ['a', '-'], ['b']],
    ['[a-c-e]', ['b', '-', 'e'], ['d']],
    ['[z-a]x', [], ['zx', 'ax', '-x']],
    ['[[:digit:]_]x', ['1x', '_x'], ['ax', ':x']],
    ['[[:upper:]]', ['A', 'Ü'], ['a']],
    ['[üé😀].yaml', ['ü.yaml', '😀.yaml'], ['u.yaml']],
    ['?.yaml', ['a.yaml', '😀.yaml'], ['ab.yaml']],
    ['[\\]\\\\]', [']', '\\'], ['[']],
    ['[.^$]', ['.', '^', '$'], ['a']],
    ['{a,[b-c]}.yaml', ['a.yaml', 'c.yaml'], ['d.yaml']],
    ['**/[ab]/*.yaml', ['a/x.yaml', 'k/b/x.yaml'], ['c/x.yaml', 'a/k/x.yaml']],
    ['[', ['['], ['a']],
    ['a[b', ['a[b'], ['ab']],
    ['[]', ['[]'], ['']],
    ['[!]', ['[!]'], ['a', '!']],
    ['\\[a]\\*', ['[a]*'], ['a', 'a*', '[a]b']],
    ['./a.yaml', ['a.yaml'], ['axyaml']],
  ])('%s', (glob, taken, left) => {
    const patterns = parseGlobs([glob])
    const of = (paths: readonly string[]): string[] => paths.filter((path) => patterns.matches(path))
    expect([of(taken), of(left)]).toEqual([taken, []])
  })
})

test('classes hold in lists of what is ignored, and a mark after `\\` is itself', () => {
  const patterns = parseIgnore('draft-[0-9].yaml\n!draft-7.yaml\n[Oo]ld/\n\\#a\n\\!b\n')
  const paths = ['draft-1.yaml', 'x/draft-2.yaml', 'draft-7.yaml', 'draft-x.yaml', 'Old/', 'old', '#a', '!b', 'a']
  expect(paths.filter((path) => patterns.matches(path))).toEqual(['draft-1.yaml', 'x/draft-2.yaml', 'Old/', '#a', '!b'])
})

test('a glob is distinguished from a name', () => {
  expect(['a[0-9].yaml', '[!x]', 'a*', '{a,b}', 'a?'].filter((path) => !isGlob(path))).toEqual([])
  expect(['a.yaml', 'a[b', 'a]b', '[]', 'a[x/y]'].filter(isGlob)).toEqual([])
})
