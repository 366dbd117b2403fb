import type { ServerResponse } from 'node:http'
import { pieces, startFakeModel, type FakeAnswer, type FakeModel, type FakeScript } from './model-server.ts'

/** Speaks Gemini's streamed contents. The base address is `url`. */
export const startFakeGemini = (script: FakeScript): Promise<FakeModel> => startFakeModel(script, write)

function write(answer: FakeAnswer, response: ServerResponse): void {
  if (answer.status !== undefined) {
    const { message = 'failed', type = 'UNKNOWN' } = answer.error ?? {}
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
    response.end(JSON.stringify({ error: { code: answer.status, message, status: type } }))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', ...answer.headers })
  const send = (chunk: object): void => void response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  const part = (content: object): void =>
    send({ candidates: [{ index: 0, content: { role: 'model', parts: [content] } }] })
  if (answer.thinking) part({ text: answer.thinking.text, thought: true })
  for (const text of pieces(answer.say ?? '')) part({ text })
  if (answer.hang) return
  answer.calls?.forEach(({ id, name, arguments: args }, index) =>
    part({
      functionCall: { ...(id !== undefined && { id }), name, args },
      // Gemini signs the first of parallel calls.
      ...(answer.thinking && index === 0 && { thoughtSignature: answer.thinking.signature }),
    }),
  )
  if (answer.cut) {
    // What was said arrives before the connection ends.
    setImmediate(() => response.destroy())
    return
  }
  if (answer.finish === '') {
    response.end()
    return
  }
  const { usage } = answer
  send({
    candidates: [{ index: 0, content: { role: 'model', parts: [] }, finishReason: answer.finish ?? 'STOP' }],
    ...(usage && {
      usageMetadata: {
        promptTokenCount: usage.input,
        candidatesTokenCount: usage.output - (usage.reasoning ?? 0),
        ...(usage.reasoning !== undefined && { thoughtsTokenCount: usage.reasoning }),
        ...(usage.cached !== undefined && { cachedContentTokenCount: usage.cached }),
      },
    }),
  })
  response.end()
}
