// Where a detached apply runs, and how to follow it.

export const printDetached = ({ unit }: { readonly unit: string }): string =>
  `Running as ${unit}. Follow it: journalctl -fu ${unit}`
