#include "cli/completion.h"

#include "cli/exit_code.h"

namespace outrider::cli {
namespace {

// A word of the tree with the words that lead to it, " dead list", and the flags of the root.
struct Station {
    std::string path;
    const CommandWord* word;
};

void collect(const CommandWord& word, const std::string& path, std::vector<Station>& out) {
    out.push_back({path, &word});
    for (const CommandWord& child : word.words) collect(child, path + " " + child.name, out);
}

std::vector<Station> stations_of(const CommandWord& root) {
    std::vector<Station> stations;
    collect(root, "", stations);
    return stations;
}

// The flags of a word and those that every word takes.
std::vector<CommandWord::Flag> flags_of(const CommandWord& word, const CommandWord& root) {
    std::vector<CommandWord::Flag> flags = word.flags;
    for (const CommandWord::Flag& flag : root.flags) {
        bool known = false;
        for (const CommandWord::Flag& own : word.flags) known = known || own.name == flag.name;
        if (!known) flags.push_back(flag);
    }
    return flags;
}

std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

// "a|b|c" of all flags for which `wanted` holds, for a case of the shell.
template <class Wanted>
std::string flag_pattern(const std::vector<Station>& stations, Wanted wanted) {
    std::string pattern;
    for (const Station& station : stations) {
        for (const CommandWord::Flag& flag : station.word->flags) {
            if (wanted(flag)) pattern += (pattern.empty() ? "" : "|") + flag.name;
        }
    }
    return pattern;
}

std::string path_pattern(const std::vector<Station>& stations) {
    std::string pattern;
    for (const Station& station : stations) {
        if (!station.path.empty()) pattern += (pattern.empty() ? "" : "|") + quoted(station.path);
    }
    return pattern;
}

std::string bash_script(const CommandWord& root) {
    const std::vector<Station> stations = stations_of(root);
    const std::string files =
        flag_pattern(stations, [](const auto& flag) { return flag.takes_file; });
    const std::string values = flag_pattern(stations, [](const auto& flag) {
        return flag.takes_value && !flag.takes_file;
    });
    std::string out =
        "# bash completion for outrider: source it, or put it into "
        "/etc/bash_completion.d/\n"
        "_outrider() {\n"
        "    local current=${COMP_WORDS[COMP_CWORD]} at='' words='' i\n"
        "    COMPREPLY=()\n"
        "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
        "        case \"$at ${COMP_WORDS[i]}\" in\n"
        "            " +
        path_pattern(stations) +
        ") at=\"$at ${COMP_WORDS[i]}\" ;;\n"
        "        esac\n"
        "    done\n"
        "    case ${COMP_WORDS[COMP_CWORD-1]} in\n"
        "        " +
        files +
        ") COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n"
        "        " +
        values +
        ") return ;;\n"
        "    esac\n"
        "    case $at in\n";
    for (const Station& station : stations) {
        std::string words;
        for (const CommandWord& child : station.word->words) words += child.name + " ";
        for (const auto& flag : flags_of(*station.word, root)) words += flag.name + " ";
        out += "        " + quoted(station.path) + ") words=" + quoted(words) + " ;;\n";
    }
    return out +
           "    esac\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
           "}\n"
           "complete -F _outrider outrider\n";
}

// In _describe a colon parts the word from its sentence.
std::string described(const std::string& name, const std::string& sentence) {
    return quoted(name + ":" + sentence);
}

std::string zsh_script(const CommandWord& root) {
    const std::vector<Station> stations = stations_of(root);
    std::string out =
        "#compdef outrider\n"
        "_outrider() {\n"
        "    local at='' i\n"
        "    local -a choices\n"
        "    for ((i = 2; i < CURRENT; i++)); do\n"
        "        case \"$at ${words[i]}\" in\n"
        "            (" +
        path_pattern(stations) +
        ") at=\"$at ${words[i]}\" ;;\n"
        "        esac\n"
        "    done\n"
        "    case ${words[CURRENT-1]} in\n"
        "        (" +
        flag_pattern(stations, [](const auto& flag) { return flag.takes_file; }) +
        ") _files; return ;;\n"
        "    esac\n"
        "    case $at in\n";
    for (const Station& station : stations) {
        out += "        (" + quoted(station.path) + ") choices=(";
        for (const CommandWord& child : station.word->words) {
            out += "\n            " + described(child.name, child.sentence);
        }
        for (const auto& flag : flags_of(*station.word, root)) {
            out += "\n            " + described(flag.name, flag.sentence);
        }
        out += ") ;;\n";
    }
    return out +
           "    esac\n"
           "    _describe outrider choices\n"
           "}\n"
           "compdef _outrider outrider\n";
}

// True in fish when exactly this path has been typed.
std::string fish_condition(const Station& station) {
    return quoted("test (__outrider_at) = " + quoted(station.path));
}

std::string fish_script(const CommandWord& root) {
    const std::vector<Station> stations = stations_of(root);
    std::string out =
        "# fish completion for outrider\n"
        "function __outrider_at\n"
        "    set -l at ''\n"
        "    for word in (commandline -opc)[2..-1]\n"
        "        switch \"$at $word\"\n"
        "            case";
    for (const Station& station : stations) {
        if (!station.path.empty()) out += " " + quoted(station.path);
    }
    out +=
        "\n"
        "                set at \"$at $word\"\n"
        "        end\n"
        "    end\n"
        "    echo \"$at\"\n"
        "end\n"
        "complete -c outrider -f\n";
    for (const Station& station : stations) {
        const std::string start = "complete -c outrider -n " + fish_condition(station);
        for (const CommandWord& child : station.word->words) {
            out += start + " -a " + child.name + " -d " + quoted(child.sentence) + "\n";
        }
        for (const auto& flag : flags_of(*station.word, root)) {
            out += start + " -l " + flag.name.substr(2) + (flag.takes_file ? " -rF" : "") +
                   (flag.takes_value && !flag.takes_file ? " -x" : "") + " -d " +
                   quoted(flag.sentence) + "\n";
        }
    }
    return out;
}

}  // namespace

std::string completion_script(std::string_view shell, const CommandWord& root) {
    if (shell == "bash") return bash_script(root);
    if (shell == "zsh") return zsh_script(root);
    if (shell == "fish") return fish_script(root);
    throw Stop(kUsage, "completion: expected bash, zsh or fish, not '" + std::string(shell) + "'");
}

}  // namespace outrider::cli
