/**
 * Plain commands: one request to an operator route, and its answer printed. With `--json` the answer is printed as it came, which is what
 * `printsAnswer` of the command's entry declares.
 */
import { toIsoText } from '../../base/clock.ts'
import type { OperatorAnswer, OperatorRoutes } from '../../operations/operations.ts'
import type { RouteArguments } from '../../operations/request.ts'
import type { TableColumn } from '../../terminal/table.ts'
import { actOnEach, type ItemError } from '../shell/act-on-each.ts'
import type { CommandContext } from '../shell/command.ts'
import { parseMoment } from '../shell/numbers.ts'
import { printTable } from '../shell/screen/list.ts'
import { resolveAgent, runIdOf } from './reference.ts'
import type { OperatorClient } from '../../client/operator.ts'
import { withOperator } from './server/operator.ts'

type Route = keyof OperatorRoutes
type Call<R extends Route> = CommandContext<OperatorAnswer<R>>

/**
 * What a command asks for. It is read from the command line first, so that a mistake there is told before anything is opened; what needs the
 * server is a function of it. Undefined where a person was asked and keeps things as they are.
 */
type Ask<R extends Route> = (call: Call<R>) => RouteArguments<R> | AskOperator<R>
type AskOperator<R extends Route> = (operator: OperatorClient) => Promise<RouteArguments<R> | undefined>

/** @param print shows the answer to people */
export const requestCommand =
  <R extends Route>(route: R, ask: Ask<R>, print: (call: Call<R>, answer: OperatorAnswer<R>) => void) =>
  async (call: Call<R>): Promise<void> => {
    const asked = ask(call)
    await withOperator(call, async (operator) => {
      const given = typeof asked === 'function' ? await (asked as AskOperator<R>)(operator) : asked
      if (given === undefined) return call.out.message('kept')
      const answer = await operator.call(route, given)
      if (call.mode.json) return await call.out.json(answer)
      print(call, answer)
    })
  }

type ItemOf<R extends Route> = OperatorAnswer<R> extends { readonly items: readonly (infer Item)[] } ? Item : never

interface ListForm<R extends Route> {
  /** Nothing, where absent. */
  readonly ask?: Ask<R>
  readonly columns: (now: number, items: readonly ItemOf<R>[]) => readonly TableColumn<ItemOf<R>>[]
  /** Sentence on a terminal where the list is empty. */
  readonly nothing: string | ((call: Call<R>) => string)
  /** What is said below the table. */
  readonly note?: (call: Call<R>, answer: OperatorAnswer<R>) => void
}

/** Only routes whose answer has items have columns for them. */
const itemsOf = <R extends Route>(answer: unknown) => (answer as { readonly items: readonly ItemOf<R>[] }).items

/** A command that prints a list as a table. */
export const listCommand = <R extends Route>(
  route: R,
  { ask = () => ({}) as RouteArguments<R>, columns, nothing, note }: ListForm<R>,
) =>
  requestCommand(route, ask, (call, answer) => {
    const items = itemsOf<R>(answer)
    printTable(call, items, columns(call.io.clock.now(), items), typeof nothing === 'string' ? nothing : nothing(call))
    note?.(call, answer)
  })

interface EachForm<R extends Route, Item, Name extends string> {
  /** The ids of what the command names, found before anything is done to one of them. */
  readonly find: (texts: readonly string[], operator: OperatorClient) => Promise<readonly string[]>
  readonly ask: (call: CommandContext) => Omit<RouteArguments<R>, 'id'>
  readonly toItem: (answer: OperatorAnswer<R>) => Item
  readonly describe: (answer: OperatorAnswer<R>, call: CommandContext) => string
  /** The field with the id of an item that was refused. */
  readonly idField: Name
}

export type RefusedItem<Name extends string> = Readonly<Record<Name, string>> & { readonly error: ItemError }

/** A command that sends a request for each thing that it names, and prints a line for each. */
export const eachCommand =
  <R extends Route, Item, const Name extends string>(
    route: R,
    { find, ask, toItem, describe, idField }: EachForm<R, Item, Name>,
  ) =>
  async (
    call: CommandContext<{ readonly items: readonly (Item | RefusedItem<Name>)[]; readonly total: number }>,
  ): Promise<number> => {
    const given = ask(call)
    return await withOperator(call, async (operator) =>
      actOnEach<Item | RefusedItem<Name>>(
        call,
        await find(call.given.rest(0), operator),
        async (id) => {
          const answer = await operator.call(route, { ...given, id } as RouteArguments<R>)
          if (!call.mode.json) call.out.line(describe(answer, call))
          return toItem(answer)
        },
        (id, error) => ({ [idField]: id, error }) as RefusedItem<Name>,
      ),
    )
  }

/** `--agent` as a parameter: its id. */
export async function agentOption(
  { given }: Pick<CommandContext, 'given'>,
  operator: OperatorClient,
): Promise<{ readonly agent?: string }> {
  const agent = given.text('agent')
  return agent === undefined ? {} : { agent: (await resolveAgent(agent, operator)).agentId }
}

/** Asks about the agent that the first argument names. */
export const askOfAgent =
  ({ given }: Pick<CommandContext, 'given'>) =>
  async (operator: OperatorClient) => ({
    query: { agent: (await resolveAgent(given.required(0), operator)).agentId },
  })

/** Asks about the run that the first argument names. */
export const askOfRun =
  ({ given }: Pick<CommandContext, 'given'>) =>
  async (operator: OperatorClient) => ({ id: await runIdOf(given.required(0), operator) })

/** Options that are moments, as parameters. */
export function momentOptions<Name extends string>(
  { given, io }: Pick<CommandContext, 'given' | 'io'>,
  ...names: readonly Name[]
): { readonly [N in Name]?: string } {
  const now = io.clock.now()
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = given.text(name)
      return text === undefined ? [] : [[name, toIsoText(parseMoment(text, now))]]
    }),
  ) as { readonly [N in Name]?: string }
}
