/** What lies in front of the screen: the dialogs and menus of the page. While one is open, it alone gets the keys. */

/** Selects every kind of layer while it is open. A new kind is added here, and to the table of `test/console/layers.test.ts`. */
const OPEN_LAYER = 'dialog[open], details:is(.menu, .who)[open]'

/** The layer that opened last in the order of the document, which is the order in which they cover each other. */
export const findTopLayer = (): HTMLElement | undefined =>
  [...document.querySelectorAll<HTMLElement>(OPEN_LAYER)].at(-1)

/** Escape closes the top layer. A browser closes a dialog itself, and tells the dialog so; a menu it leaves open. */
export function closeMenuOnEscape(layer: HTMLElement, event: KeyboardEvent): void {
  if (event.key !== 'Escape' || !(layer instanceof HTMLDetailsElement)) return
  event.preventDefault()
  layer.open = false
  layer.querySelector('summary')?.focus()
}

/** A press elsewhere closes a menu; otherwise keys would seem dead until somebody finds it still open. */
export function closeMenusOnPressElsewhere(): void {
  addEventListener('pointerdown', ({ target }) => {
    for (const layer of document.querySelectorAll(OPEN_LAYER))
      if (layer instanceof HTMLDetailsElement && !(target instanceof Node && layer.contains(target))) layer.open = false
  })
}
