/** A part of the repository: its files, and all it may import beside its own files. */
export interface Part {
	/** Paths from the root; a `*` stands for anything but a slash, `**` for anything. */
	files: string[];
	/** Names of other parts or of packages; `*` and `**` as in paths. */
	imports: string[];
	/** Names of parts or packages of which only types may be imported. */
	types?: string[];
}
