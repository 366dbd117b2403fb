/**
 * The `ref` of what takes the place of a control that had the focus: Tab and a screen reader go on from here, in place of the
 * top of the page. Takes no focus from anything else. Needs `tabindex={-1}`.
 */
export const takeLostFocus = (element: HTMLElement | null): void => {
  if (document.activeElement === document.body) element?.focus()
}
