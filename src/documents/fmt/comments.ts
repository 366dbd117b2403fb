import { Lexer } from 'yaml'

/** Lexer token before the source of a scalar; a block scalar may begin with `#`. */
const SCALAR = '\u001f'

/** The comments of a text, in order, without space at their ends. */
export function commentsOf(text: string): string[] {
  const comments: string[] = []
  let before = ''
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme.startsWith('#') && before !== SCALAR) comments.push(lexeme.trimEnd())
    before = lexeme
  }
  return comments
}
