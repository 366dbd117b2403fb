/** Names as people read them: `from acme.inbox.read (untrusted), in a longer text`. */
export function describeSource(name: string): string {
  const isPart = name.startsWith('text:')
  const plain = isPart ? name.slice('text:'.length) : name
  const untrusted = plain.startsWith('untrusted:')
  const who = untrusted ? plain.slice('untrusted:'.length) : plain
  const said = WORDS[who] ?? who.replace(/^tool:/, 'a result of ').replace(/^agent:/, 'the sub-agent ')
  return `${said}${untrusted ? ', whose content is untrusted' : ''}${isPart ? ', as part of a text' : ''}`
}

const WORDS: Readonly<Record<string, string>> = {
  input: 'the input',
  person: 'a person',
  document: 'the documents of the version',
  model: 'the model alone',
  unknown: 'nobody can tell where',
}
