/** The part of saxen, which has no types of its own, that `xml.ts` uses. */
declare module 'saxen' {
  export class Parser {
    on(
      event: 'openTag',
      callback: (name: string, attributes: () => Readonly<Record<string, string>>) => void,
    ): this
    on(event: 'text' | 'cdata' | 'closeTag', callback: (value: string) => void): this
    /** @throws Error for text that is not XML, as `end` */
    write(xml: string): this
    end(): void
  }
}
