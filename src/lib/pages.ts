/** Page after page, each asked for with the cursor that the one before gave as `next`. */
export async function* pages<Page extends { readonly next?: string | undefined }>(
  ask: (from: { readonly cursor?: string }) => Promise<Page>,
): AsyncGenerator<Page> {
  for (let from: { readonly cursor?: string } | null = {}; from; ) {
    const page: Page = await ask(from)
    yield page
    from = page.next === undefined ? null : { cursor: page.next }
  }
}
