/** The part of saxen, which has no types, that `xml.ts` uses. */
declare module 'saxen' {
  type Attributes = () => Readonly<Record<string, string>>
  export class Parser {
    on(event: string, callback: (value: string, attributes: Attributes) => unknown): this
    /** @throws Error for text that is not XML, as `end` */
    write(xml: string): this
    end(): void
  }
}
