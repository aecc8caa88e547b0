/** A person in one of two systems. The email address identifies them. */
export interface Person {
	email: string;
	name: string | null;
	/** The version of the CRM's record, as the CRM has it or the other system has stored it. */
	version: number | null;
}

/** A system whose people are edited, and kept in sync with those of another system. */
export interface EditedSystem {
	people(): Promise<Person[]>;
	/** Everything that is stored of them, to see whether anything was written. */
	stored(): Promise<unknown>;
	add(email: string, name: string): Promise<void>;
	/** @returns whether the person had another name */
	rename(email: string, name: string): Promise<boolean>;
}
