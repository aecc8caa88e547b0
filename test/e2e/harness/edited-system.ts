/** A person as one of two systems has them; people are identified by their email addresses. */
export interface Person {
	email: string;
	name: string | null;
	/** The version of the CRM's record: its own, or the one that the other system has stored. */
	version: number | null;
}

/** A system whose people are edited, and kept in sync with another one's. */
export interface EditedSystem {
	people(): Promise<Person[]>;
	/** All that is stored of them, to see whether anything was written. */
	stored(): Promise<unknown>;
	add(email: string, name: string): Promise<void>;
	/** @returns whether the person had another name */
	rename(email: string, name: string): Promise<boolean>;
}
