// A mail server for trying things out: takes every mail on port 2525 and shows its text.
import { createServer } from 'node:net'

/** The text part of a mail. */
function textOf(mail) {
  const [, boundary] = /boundary="?([^"\r\n]+)/.exec(mail) ?? []
  const part = boundary ? mail.split(`--${boundary}`).find((each) => /content-type: text\/plain/i.test(each)) : mail
  const [head, ...body] = part.split('\r\n\r\n')
  const text = body.join('\r\n\r\n')
  if (/encoding: base64/i.test(head)) return Buffer.from(text, 'base64').toString()
  if (!/encoding: quoted-printable/i.test(head)) return text
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}

createServer((socket) => {
  let rest = ''
  let isMail = false
  const say = (line) => socket.write(`${line}\r\n`)
  const take = (command) => {
    if (/^EHLO/i.test(command)) say('250 mailbox')
    else if (/^DATA/i.test(command)) {
      isMail = true
      say('354 go on')
    } else if (/^QUIT/i.test(command)) socket.end('221 bye\r\n')
    else say('250 ok')
  }
  say('220 mailbox')
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    rest += chunk
    for (;;) {
      const end = isMail ? '\r\n.\r\n' : '\r\n'
      const at = rest.indexOf(end)
      if (at < 0) return
      const text = rest.slice(0, at)
      rest = rest.slice(at + end.length)
      if (!isMail) {
        take(text)
        continue
      }
      isMail = false
      console.log(`\n--- ${/^to: .*/im.exec(text)?.[0]} ---\n${textOf(text)}`)
      say('250 kept')
    }
  })
}).listen(2525, '127.0.0.1', () => console.log('mail: smtp://127.0.0.1:2525'))
