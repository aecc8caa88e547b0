/**
 * The texts in the inputs of a form, by name. Unlike URLSearchParams, which looks through all its
 * entries for each name, it is read in linear time.
 */
export class FormTexts {
	private readonly texts = new Map<string, string[]>();
	private readonly rows = new Map<string, Set<number>>();

	constructor(entries: Iterable<[name: string, text: string]> = []) {
		this.add(entries);
	}

	/** Adds texts; several texts may have the same name. */
	add(entries: Iterable<[name: string, text: string]>): void {
		for (const [name, text] of entries) this.append(name, text);
	}

	get(name: string): string | null {
		return this.texts.get(name)?.[0] ?? null;
	}

	getAll(name: string): string[] {
		return this.texts.get(name) ?? [];
	}

	has(name: string): boolean {
		return this.texts.has(name);
	}

	set(name: string, text: string): void {
		this.texts.set(name, [text]);
	}

	/** The numbers of the rows of a list: 0 and 2, if there are `emails.0.value` and `emails.2.value`. */
	rowsOf(list: string): number[] {
		return [...(this.rows.get(list) ?? [])];
	}

	private append(name: string, text: string): void {
		const existingTexts = this.texts.get(name);
		if (existingTexts) return void existingTexts.push(text);
		this.texts.set(name, [text]);
		const [, list, row] = /^([^.]+)\.(\d{1,9})\./.exec(name) ?? [];
		if (list === undefined) return;
		this.rows.set(list, (this.rows.get(list) ?? new Set()).add(Number(row)));
	}
}
