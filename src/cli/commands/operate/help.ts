import { fail } from '../../../base/failure.ts'
import { wrapMessage } from '../../../terminal/message.ts'
import type { CommandContext } from '../../shell/command.ts'
import { exitCodes } from '../../shell/exit-codes.ts'
import { answerScreen, printLong } from '../../shell/screen/list.ts'
import { suggestWord } from '../../../base/text/nearest-word.ts'
import type { helpAnswer } from '../../answers/operate.ts'
import type { ValueOf } from '../../../operations/schema.ts'

export async function help(call: CommandContext<ValueOf<typeof helpAnswer>>): Promise<void> {
  const { given, mode, out, manual } = call
  const words = given.rest(0)
  const { commands, globalOptions } = manual
  if (mode.json)
    return await out.json({
      commands: commands.map(({ arguments: operands, options, ...command }) => ({
        ...command,
        ...(operands && { arguments: operands.map(toPrinted) }),
        ...(options && { options: options.map(toPrinted) }),
      })),
      globalOptions: globalOptions.map(toPrinted),
    })
  const show = (text: string): Promise<void> => printLong(call, wrapMessage(text, answerScreen(call).width).split('\n'))
  if (given.flag('tree'))
    return await show(commands.map(({ path, summary }) => `${path.padEnd(20)}   ${summary}`).join('\n'))
  const topic = topics[words.join(' ')]
  if (topic) return await show(await topic())
  if (manual.show(words)) return
  const asked = words.join(' ')
  const known = [...commands.map(({ path }) => path), ...Object.keys(topics)]
  const fix = suggestWord(asked, known, 'svc help --tree lists the commands.', (word) => `svc help ${word}`)
  throw fail('not_found', { what: `command or topic "${asked}"` }, { fix })
}

/** In the printed form, a description is called `say`. */
const toPrinted = <T extends { readonly description: string }>({ description, ...rest }: T) => ({
  ...rest,
  say: description,
})

/** Help topics. */
const topics: Readonly<Record<string, () => string | Promise<string>>> = {
  authoring: async () => await (await import('../../init/template.ts')).readGuide(),
  'exit-codes': () =>
    Object.entries(exitCodes)
      .map(([code, { meaning, typical }]) => `${code.padStart(4)}  ${meaning}${typical ? `\n      ${typical}` : ''}`)
      .join('\n'),
  environment: () =>
    [
      'A flag comes before the environment, the environment before svc.config.yaml, that before the user configuration.',
      '',
      'SVC_CONFIG       project file instead of the nearest svc.config.yaml',
      'SVC_DATA         data directory instead of .svc/ beside the project file',
      'SVC_PROFILE      a server that is named under profiles in the configuration',
      'SVC_HOST         ssh://user@host/data/directory: the operator channel of another machine',
      'SVC_URL          base address of the API',
      'SVC_API_KEY      API key',
      'SVC_KEY_FILE     file with the API key',
      'SVC_OPERATOR     who you are, for approvals without a credential; USER when absent',
      'SVC_OPERATOR_KEY your operator credential (svc keys create --operator); SVC_OPERATOR_KEY_FILE: file with it',
      'SVC_NO_INPUT     never ask; CI does the same',
      'SVC_ACCESSIBLE   for screen readers: nothing is redrawn or boxed, questions are plain lines',
      'SVC_LOG          debug shows HTTP exchanges, secrets masked',
      'SVC_PAGER, PAGER pager of long answers on a terminal; empty for none',
      'NO_COLOR         no colour; FORCE_COLOR and CLICOLOR_FORCE ask for it',
      'EDITOR, VISUAL   editor for arguments that are changed at an approval',
      'XDG_CONFIG_HOME  svc/config.yaml and svc/credentials.json of the user are below it',
      'XDG_STATE_HOME   crash reports are below it',
      'XDG_CACHE_HOME   compiled code of the program is below it (Node 22 and later)',
      'HTTPS_PROXY      proxy of requests to models; svc doctor proxy tells whether it is used',
      'SVC_FORCE_TTY    as if a terminal of that many columns were there',
      '',
      'Variables that the secrets of documents name are also read from .env and .env.local beside the project file, by',
      'dev, run and secrets check.',
    ].join('\n'),
  offline: () =>
    [
      'Three models need neither a key nor a network. They are values of model.provider, and providers: in svc.config.yaml',
      'maps any other name to one of them.',
      '',
      '  scripted   says and calls what a list of turns tells, in order or by what was asked',
      '  replay     plays what was recorded, and fails where nothing was',
      '  auto       calls each tool once with arguments made from the input, then answers in the form that is asked for',
      '',
      '  svc dev --offline    every model becomes auto, but scripted ones',
      '  svc demo             the whole product in one process, no key, no files',
      '  svc test             scenarios in memory and in virtual time',
      '',
      'Policies, limits, approvals, tools and sub-agents work as with any other model.',
    ].join('\n'),
  files: () =>
    [
      'svc.config.yaml          the project: workspace, providers, tools, guardrails, limits (svc schema config)',
      'svc.lock                 resolved references and digests; committed',
      '.svc/                    the data directory; ignored by git, for its owner only',
      '  data.db                runs, versions, triggers, keys (digests, never secrets)',
      '  objects/               uploaded files',
      '  logs/                  server.log and its predecessors; svc logs reads them',
      '  server.json            where the server that holds the directory listens',
      '  admin.sock             its operator channel',
      '$XDG_CONFIG_HOME/svc/    config.yaml and credentials.json of the user',
      '$XDG_STATE_HOME/svc/     crash reports',
      '',
      'A file is uploaded by  svc files upload FILE  or, as the input of a run, by  svc run AGENT document@FILE.',
    ].join('\n'),
  approvals: () =>
    [
      'A call that a policy holds becomes a task. It runs when a person says so, and is never approved by default.',
      '',
      '  svc inbox                      what waits',
      '  svc approve TASK               let it run; the verb is the decision, there is no --yes',
      '  svc reject TASK --reason TEXT  refuse it; the reason reaches the model where the policy says so',
      '  svc answer TASK VALUE          answer a question',
      '',
      'svc run shows the same card in place: a approve, r reject, e edit arguments, w why, c conversation, l later.',
      'A process that cannot ask ends with exit code 3 and names the task.',
    ].join('\n'),
  views: () =>
    [
      'Six views of one run. RUN is an id, its last six digits, or @last.',
      '',
      '  to know                          ask',
      '  how it stands, and its result    svc runs get RUN, --wait waits for the end',
      '  what it does now                 svc runs watch RUN',
      '  what was said and answered       svc runs conversation RUN',
      '  one step whole                   svc runs steps RUN N; without N all steps, a line each',
      '  the state and keys of its calls  svc runs calls RUN',
      '  every event, for a program       svc stream RUN',
      '',
      'Why each call was allowed, held or denied:  svc policy explain RUN. Lines of the server about it:  svc logs --run RUN.',
    ].join('\n'),
  continue: () =>
    [
      'Six ways to continue. None makes a call again that was made, but a retry, which asks first.',
      '',
      '  it completed, and there is more to say     svc send RUN TEXT: the next run of its session',
      '  it failed, was cancelled or hit a limit    svc runs resume RUN: where it stopped',
      '  the same once more, from the start         svc runs retry RUN: a new run',
      '  from a step, with other words or versions  svc runs fork RUN --at N: a new run; --dry makes no call',
      '  it waits, and another version is stricter  svc runs migrate RUN --to VERSION',
      '  what it did should not have happened       svc runs undo RUN: calls the tools that undo',
      '',
      'With any input in the same conversation:  svc run AGENT … --session SESSION. A held run continues by itself.',
    ].join('\n'),
  formatting: () =>
    [
      'stdout holds the answer and nothing else; progress, cards, hints and errors go to stderr.',
      '',
      '  on a terminal   tables, cards, short ids, relative times',
      '  in a pipe       TAB-separated, full ids, ISO times, no header',
      '  --json          one document, or a line of JSON for each event; errors as one line on stderr',
      '  --jq, --fields  filter it',
      '',
      'Text of models, tools and file names is shown with its control characters made visible.',
    ].join('\n'),
}
